import { toFault } from '../fault.ts';
import { nouns } from '../ports/nouns.ts';
import type { Health, Log } from '../ports/platform.ts';
import type { Kind } from '../ports/store.ts';

/** Health names so many records; the log has them all. */
const mostNamed = 3;

interface Found {
  readonly kind: Kind;
  readonly id: number;
}

/** The records that periodic work of this process skips, because they are damaged or it fails on them. */
export class DamagedRecords {
  readonly #log: Log;
  /** Task → what its last run has skipped, by kind and id. */
  readonly #skipped = new Map<string, ReadonlyMap<string, Found>>();

  constructor({ log }: { readonly log: Log }) {
    this.#log = log;
  }

  /** Starts a run of a task. What earlier runs skipped counts until `end`. */
  run(task: string): DamagedRecordsOfRun {
    const known = this.#skipped.get(task) ?? new Map<string, Found>();
    const found = new Map<string, Found>();
    return {
      skip: (kind, id, cause) => {
        const key = `${kind}:${id}`;
        // Once, not at every run.
        if (!known.has(key) && !found.has(key))
          this.#log.error('a damaged record is skipped', cause, { kind, id, task });
        found.set(key, { kind, id });
      },
      end: () => {
        this.#skipped.set(task, found);
      },
    };
  }

  health(): Health {
    const all = new Map([...this.#skipped.values()].flatMap((found) => [...found]));
    if (all.size === 0) return { ok: true };
    const named = [...all.values()].slice(0, mostNamed).map(({ kind, id }) => `${nouns[kind][0]} ${id}`);
    const more = all.size > mostNamed ? ` and ${all.size - mostNamed} more` : '';
    return { ok: false, detail: `damaged and skipped: ${named.join(', ')}${more}` };
  }
}

export interface DamagedRecordsOfRun {
  /** Logs a record that is skipped, once for successive runs. */
  skip(kind: Kind, id: number, cause: unknown): void;
  /** Ends the run. Health shows what it skipped until the next run of the task ends. */
  end(): void;
}

export interface WithDamagedRecords {
  readonly damagedRecords: DamagedRecords;
}

/** Returns true if an error lies in a record rather than in the store or in a concurrent change. */
export function isDamage(error: unknown): boolean {
  const { code } = toFault(error);
  return code !== 'unavailable' && code !== 'conflict' && code !== 'tooManyRequests';
}
