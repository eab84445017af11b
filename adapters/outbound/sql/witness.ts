import { Fault } from '#core/fault.ts';
import type { Head } from './audit-chain.ts';
import type { Row } from './codec.ts';

/** What a database holds that only ever grows. */
export interface Seen {
  /** The change counter. */
  readonly counter: number;
  /** The id of the newest audit event. */
  readonly event: number;
}

/** What a database has to know, unless it has gone back in time. */
interface Known extends Seen {
  /** The last event that this process has written. */
  readonly head: Head | undefined;
}

const nothing: Seen = { counter: 0, event: 0 };

/**
 * Remembers what this process has seen in the database, for as long as the process lives. A server that does not know it is an old
 * primary or a restored backup: its records would be taken for the truth, and new ones would get the ids of those that it has lost.
 * What was read counts once a later commit is durable. Until then it may be what a fail-over is allowed to lose.
 */
export class Witness {
  #known: Known = { ...nothing, head: undefined };
  #read: Seen = nothing;
  #behind: Fault | undefined;

  /** What was read so far. To be passed to `confirm` after a commit that begins now. */
  get read(): Seen {
    return this.#read;
  }

  /** What a question that is asked now is to be compared with. */
  get known(): Known {
    return this.#known;
  }

  /** A commit that began after `read` is durable, and with it all that was read. */
  confirm(read: Seen, head?: Head): void {
    const { counter, event } = largest(this.#known, read);
    this.#known = { counter, event, head: head && head.sequence > 0 ? head : this.#known.head };
  }

  /** Throws Fault unavailable while the database is known to have gone back in time. */
  demand(): void {
    if (this.#behind) throw this.#behind;
  }

  /**
   * Compares the answer to `Statements.sighting` with what was `known` when the question was sent, and returns the change counter.
   * Faults: unavailable when the database has gone back in time.
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
    'the database has gone back in time: it lacks records that this gateway has seen',
    {
      hint: 'If that is intended (a restored backup), restart every gateway. Otherwise stop that server: it is an old primary.',
      retryAfter: 5,
      cause: new Error(what),
    },
  );
