import { Fault } from '#core/fault.ts';
import type { Head } from './audit-chain.ts';
import type { Row } from './codec.ts';

/** Values of a database that only grow. */
export interface Seen {
  /** The change counter. */
  readonly counter: number;
  /** The id of the newest audit event. */
  readonly event: number;
}

/** The values that a database must have reached, unless it has gone back in time. */
interface Known extends Seen {
  /** The last event that this process has written. */
  readonly head: Head | undefined;
}

const nothing: Seen = { counter: 0, event: 0 };

/**
 * Remembers what this process has seen in the database, for the lifetime of the process. A server without it is an old
 * primary or a restored backup: its outdated records would be used, and new records would get the ids of lost ones. A
 * value counts only after a later durable commit; until then a fail-over may lose it.
 */
export class Witness {
  #known: Known = { ...nothing, head: undefined };
  #read: Seen = nothing;
  #behind: Fault | undefined;

  /** The values read so far, for `confirm` after a commit that begins now. */
  get read(): Seen {
    return this.#read;
  }

  /** The values to compare with the response to a query that is sent now. */
  get known(): Known {
    return this.#known;
  }

  /** Records that a commit after `read` is durable, and therefore everything that was read before it. */
  confirm(read: Seen, head?: Head): void {
    const { counter, event } = largest(this.#known, read);
    this.#known = { counter, event, head: head && head.sequence > 0 ? head : this.#known.head };
  }

  /** Throws Fault unavailable while the database is known to have gone back in time. */
  demand(): void {
    if (this.#behind) throw this.#behind;
  }

  /**
   * Compares the result of `Statements.sighting` with the values of `known` when the query was sent, and returns the
   * change counter. Faults: unavailable if the database has gone back in time.
   */
  compare(known: Known, row: Row | undefined): number {
    const seen: Seen = { counter: Number(row?.counter ?? 0), event: Number(row?.event ?? 0) };
    const sequence = Number(row?.sequence ?? 0);
    const lost = [
      ['change counter', seen.counter, known.counter],
      ['newest audit event', seen.event, known.event],
      ['audit chain of this gateway', sequence, known.head?.sequence ?? 0],
    ].find(([, there, expected]) => there! < expected!);
    if (lost) {
      this.#behind = behind(`${lost[0]}: ${lost[1]} in the database, ${lost[2]} known here`);
      throw this.#behind;
    }
    this.#behind = undefined;
    this.#read = largest(this.#read, seen);
    return seen.counter;
  }
}

const largest = (one: Seen, other: Seen): Seen => ({
  counter: Math.max(one.counter, other.counter),
  event: Math.max(one.event, other.event),
});

const behind = (what: string): Fault =>
  new Fault(
    'unavailable',
    'the database was reset to an earlier state: it lacks records that this gateway has read',
    {
      hint: 'if a backup was restored on purpose, restart every gateway; otherwise stop that server, because it is an old primary',
      retryAfter: 5,
      cause: new Error(what),
    },
  );
