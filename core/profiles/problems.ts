import { Fault } from '../fault.ts';
import { visible } from './visible.ts';

const mostProblems = 10;

/** Collects what is wrong with the rules of a profile, each with the path of its member. */
export class Problems {
  readonly #found = new Map<string, string>();

  /** One for each path: what follows from it need not be said. */
  add(path: string, what: string): void {
    const where = path === '' ? 'profile' : `profile.${path.slice(0, 120)}`;
    if (!this.full && !this.#found.has(where)) this.#found.set(where, what);
  }

  get full(): boolean {
    return this.#found.size >= mostProblems;
  }

  /** Faults: malformed when there are any. */
  settle(): void {
    if (this.#found.size === 0) return;
    const detail = [...this.#found].map(([path, what]) => `${visible(path)}: ${visible(what)}`).join('; ');
    throw new Fault('malformed', detail, { field: 'profile' });
  }
}
