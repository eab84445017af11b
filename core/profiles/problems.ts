import { encodeOid } from '../der/oid.ts';
import { Fault, type Problem } from '../fault.ts';
import { visible } from '../x509/visible.ts';

const mostProblems = 10;

/** Collects the errors in the rules of a profile, each with the path of its member. */
export class Problems {
  readonly #rules: unknown;
  readonly #found = new Map<string, string>();

  constructor(rules: unknown) {
    this.#rules = rules;
  }

  /** Adds an error. `path`: `subject.CN`. Keeps only one for each path, because further ones usually follow from it. */
  add(path: string, what: string): void {
    const where = path.slice(0, 120);
    if (!this.full && !this.#found.has(where)) this.#found.set(where, what);
  }

  get full(): boolean {
    return this.#found.size >= mostProblems;
  }

  /** Throws the collected errors. Faults: malformed. */
  settle(): void {
    if (this.#found.size === 0) return;
    const found = [...this.#found].map(([path, what]) => [visible(path), visible(what)] as const);
    const detail = found.map(([path, what]) => `profile${path && '.'}${path}: ${what}`).join('; ');
    const problems = found.map(
      ([path, what]): Problem => ({ pointer: pointerTo(path, this.#rules), detail: what }),
    );
    throw new Fault('malformed', detail, { field: 'profile', problems });
  }
}

/** `extensions.custom.1.2.3.fixed` → `/extensions/custom/1.2.3/fixed`: only the rules tell which dots belong to a member's name. */
function pointerTo(path: string, rules: unknown): string {
  if (path === '') return '';
  const members = typeof rules === 'object' && rules !== null ? Object.keys(rules) : [];
  const known = members.filter((name) => path === name || path.startsWith(`${name}.`));
  const name = known.sort((a, b) => b.length - a.length)[0] ?? path.split('.', 1)[0]!;
  const rest = path.slice(name.length + 1);
  const token = name.replaceAll('~', '~0').replaceAll('/', '~1');
  return `/${token}${pointerTo(rest, (rules as Record<string, unknown> | undefined)?.[name])}`;
}

/** Returns the result of `run`, or the Fault that it throws. */
export function attempt<T>(run: () => T): T | Fault {
  try {
    return run();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

export const isOid = (text: string): boolean => !(attempt(() => encodeOid(text)) instanceof Fault);
