import { Fault } from '#core/fault.ts';
import type { Row, SqlValue } from './codec.ts';
import { unavailable } from './queries.ts';

/** What `sqlite-reader-thread.ts` is asked, and what it answers. */
export interface Question {
  readonly number: number;
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

export type Answer =
  | { readonly number: number; readonly rows: Row[] }
  | { readonly number: number; readonly code: string; readonly message: string };

interface Waiting {
  resolve(rows: Row[]): void;
  reject(fault: Fault): void;
  readonly timer: Timer;
}

const mostWaiting = 100;
/** How long a query under way may hold up the end, in milliseconds. */
const closePatience = 2000;

/**
 * Reads a database file in a thread of its own. SQLite answers while the caller stands still, and a search through a million
 * certificates takes a second or two: meanwhile this process goes on issuing them.
 */
export class SqliteReader {
  readonly #path: string;
  readonly #patience: number;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | undefined;
  #asked = 0;
  #closed = false;

  /** `patience`: how long a query may take, in milliseconds. */
  constructor(path: string, patience: number) {
    this.#path = path;
    this.#patience = patience;
  }

  /** Faults: unavailable (too long, too many), internal. */
  query(sql: string, parameters: readonly SqlValue[]): Promise<Row[]> {
    if (this.#closed) return Promise.reject(unavailable());
    if (this.#waiting.size >= mostWaiting) {
      return Promise.reject(new Fault('unavailable', 'too many queries are waiting', { retryAfter: 1 }));
    }
    this.#thread ??= this.#start();
    const question: Question = { number: ++this.#asked, sql, parameters };
    return new Promise((resolve, reject) => {
      const late = () => this.#stop(new Fault('unavailable', 'the query takes too long', { retryAfter: 10 }));
      this.#waiting.set(question.number, { resolve, reject, timer: setTimeout(late, this.#patience) });
      this.#thread?.postMessage(question);
    });
  }

  #start(): Worker {
    const thread = new Worker(new URL('./sqlite-reader-thread.ts', import.meta.url), {
      env: { DATABASE: this.#path },
    });
    thread.onmessage = ({ data }: { data: Answer }) => this.#answer(data);
    thread.onerror = ({ message }) => this.#stop(unavailable(new Error(message)));
    thread.unref();
    return thread;
  }

  #answer(answer: Answer): void {
    const waiting = this.#waiting.get(answer.number);
    if (!waiting) return;
    this.#waiting.delete(answer.number);
    clearTimeout(waiting.timer);
    if ('rows' in answer) {
      waiting.resolve(answer.rows);
    } else {
      const cause = new Error(`${answer.code}: ${answer.message}`);
      const isDefect = answer.code === 'SQLITE_ERROR';
      waiting.reject(isDefect ? new Fault('internal', 'internal error', { cause }) : unavailable(cause));
    }
  }

  /** Whoever still waits is refused; who asks next gets a new thread. */
  #stop(fault: Fault): void {
    this.#thread?.terminate();
    this.#refuse(fault);
  }

  #refuse(fault: Fault): void {
    this.#thread = undefined;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(fault);
    }
    this.#waiting.clear();
  }

  /** Returns when the thread has closed the file, so that whoever opens it next has it alone. */
  async close(): Promise<void> {
    this.#closed = true;
    const thread = this.#thread;
    this.#refuse(unavailable());
    if (!thread) return;
    const closed = Promise.withResolvers<unknown>();
    thread.addEventListener('close', closed.resolve);
    const late = setTimeout(() => thread.terminate(), closePatience);
    thread.ref();
    thread.postMessage('close');
    await closed.promise;
    clearTimeout(late);
  }
}
