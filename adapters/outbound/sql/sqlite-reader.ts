import { Fault } from '#core/fault.ts';
import type { Row, SqlValue } from './codec.ts';
import { unavailable } from './queries.ts';

/** The requests to `sqlite-reader-thread.ts` and its responses. */
export interface Question {
  readonly number: number;
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

export type Answer =
  | { readonly number: number; readonly rows: Row[] }
  | { readonly number: number; readonly code: string; readonly message: string };

interface Waiting {
  readonly question: Question;
  resolve(rows: Row[]): void;
  reject(fault: Fault): void;
}

const mostWaiting = 100;
/** How long closing waits for a running query, in milliseconds. */
const closePatience = 2000;

/**
 * Reads a database file in another thread. SQLite is synchronous, and a search through a million certificates takes a
 * second or two; meanwhile this process continues to issue them.
 */
export class SqliteReader {
  readonly #path: string;
  readonly #patience: number;
  /** In the order of the responses. The first query is running. */
  readonly #waiting = new Map<number, Waiting>();
  #timer: Timer | undefined;
  #thread: Worker | undefined;
  #asked = 0;
  #closed = false;

  /** `patience`: the limit for a query from its start, in milliseconds. */
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
    const question: Question = { number: ++this.#asked, sql, parameters };
    return new Promise((resolve, reject) => {
      this.#waiting.set(question.number, { question, resolve, reject });
      if (this.#waiting.size === 1) this.#watch();
      this.#thread ??= this.#start();
      this.#thread.postMessage(question);
    });
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0;
  }

  /** Starts the timer of the first query, which begins now. Its waiting time does not count. */
  #watch(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.size > 0) this.#timer = setTimeout(() => this.#late(), this.#patience);
  }

  /** Terminates the thread, the only way to end a query. A new thread runs the others. */
  #late(): void {
    this.#thread?.terminate();
    this.#thread = undefined;
    const [first] = this.#waiting;
    if (!first) return;
    const [number, { reject }] = first;
    this.#waiting.delete(number);
    reject(new Fault('unavailable', 'the query took too long', { retryAfter: 10 }));
    if (this.#waiting.size > 0) {
      this.#thread = this.#start();
      for (const { question } of this.#waiting.values()) this.#thread.postMessage(question);
    }
    this.#watch();
  }

  #start(): Worker {
    const thread = new Worker(new URL('./sqlite-reader-thread.ts', import.meta.url), {
      env: { DATABASE: this.#path },
    });
    // A terminated thread may have sent a response before.
    thread.onmessage = ({ data }: { data: Answer }) => this.#answer(data);
    thread.onerror = ({ message }) => {
      if (thread === this.#thread) this.#stop(unavailable(new Error(message)));
    };
    thread.unref();
    return thread;
  }

  #answer(answer: Answer): void {
    const waiting = this.#waiting.get(answer.number);
    if (!waiting) return;
    this.#waiting.delete(answer.number);
    this.#watch();
    if ('rows' in answer) {
      waiting.resolve(answer.rows);
    } else {
      const cause = new Error(`${answer.code}: ${answer.message}`);
      const isDefect = answer.code === 'SQLITE_ERROR';
      waiting.reject(isDefect ? new Fault('internal', 'internal error', { cause }) : unavailable(cause));
    }
  }

  /** Rejects waiting queries. The next query starts a new thread. */
  #stop(fault: Fault): void {
    this.#thread?.terminate();
    this.#refuse(fault);
  }

  #refuse(fault: Fault): void {
    this.#thread = undefined;
    clearTimeout(this.#timer);
    for (const { reject } of this.#waiting.values()) reject(fault);
    this.#waiting.clear();
  }

  /** Resolves when the thread has closed the file, so that the next process can lock it. */
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
