import { fileURLToPath } from 'node:url';
import type { Subprocess } from 'bun';
import { TokenFailure } from './failure.ts';
import type { Answer, Operation, Operations, Question } from './messages.ts';
import { moduleEnvironment } from './module-environment.ts';

interface Waiting {
  resolve(result: unknown): void;
  reject(failure: TokenFailure): void;
  readonly timer: Timer;
}

/** Milliseconds for the module to close its connection to the token. */
const closePatience = 2000;

/**
 * A separate process for one PKCS #11 module and one token. Modules block, crash, and support only one set of
 * parameters, one login and one connection per process.
 */
export class TokenProcess {
  /** Resolves when the process has ended for any reason. */
  readonly ended: Promise<void>;
  readonly #process: Subprocess;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;
  #over = false;

  /** `threads`: the number of concurrent operations. */
  constructor(environment: Readonly<Record<string, string>>, threads: number) {
    const host = fileURLToPath(new URL('./token-host.ts', import.meta.url));
    this.#process = Bun.spawn([process.execPath, ...process.execArgv, host], {
      env: { ...moduleEnvironment(process.env), ...environment, UV_THREADPOOL_SIZE: String(threads) },
      stdio: ['ignore', 'ignore', 'inherit'],
      ipc: (answer: Answer) => this.#settle(answer),
    });
    this.ended = this.#process.exited.then(() => this.#end('the PKCS #11 module process exited'));
  }

  /**
   * Sends a request and waits `patience` milliseconds for the response. A timeout means that the module hangs, so it
   * ends the process. Errors: TokenFailure, including `late` and `ended`.
   */
  ask<O extends Operation>(
    operation: O,
    of: Operations[O]['arguments'],
    patience: number,
  ): Promise<Operations[O]['result']> {
    const question: Question = { number: ++this.#asked, operation, arguments: of };
    return new Promise((resolve, reject) => {
      if (this.#over) return reject(new TokenFailure('ended', 'the PKCS #11 module process exited'));
      const late = () => {
        this.#waiting.delete(question.number);
        reject(new TokenFailure('late', 'the token does not respond'));
        this.#process.kill('SIGKILL');
      };
      const timer = setTimeout(late, patience);
      this.#waiting.set(question.number, { resolve: resolve as Waiting['resolve'], reject, timer });
      try {
        this.#process.send(question);
      } catch {
        this.#end('the PKCS #11 module process exited');
      }
    });
  }

  /** Closes the connection. Pending requests fail. */
  async close(): Promise<void> {
    this.#end('the connection to the token was closed');
    if (this.#process.exitCode === null) this.#process.disconnect();
    const late = setTimeout(() => this.#process.kill('SIGKILL'), closePatience);
    await this.ended;
    clearTimeout(late);
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting.get(answer.number);
    if (!waiting) return;
    this.#waiting.delete(answer.number);
    clearTimeout(waiting.timer);
    if ('result' in answer) {
      waiting.resolve(answer.result);
    } else {
      const { kind, detail, code } = answer.failure;
      waiting.reject(new TokenFailure(kind, detail, code));
    }
  }

  #end(why: string): void {
    this.#over = true;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new TokenFailure('ended', why));
    }
    this.#waiting.clear();
  }
}
