import type { Gateway } from '#core/gateway.ts';
import type { Log } from '#core/ports/platform.ts';
import { isWorker } from './workers.ts';

/**
 * Milliseconds from the signal on: what is under way, requests and tasks alike, ends within the first, the process within the second.
 * Everything ends at once: waits that follow each other add up.
 */
export const grace = 4000;
export const patience = 6000;

interface Task {
  readonly failure: string;
  readonly running: Promise<void>;
}

/** What is done again and again until it is stopped. */
export class Tasks {
  readonly #log: Log;
  readonly #stop = Promise.withResolvers<'stop'>();
  readonly #tasks = new Set<Task>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Runs `task` now, and again `every` so many milliseconds after it has ended. `failure` is what the log says when it fails. */
  repeat(failure: string, every: number, task: () => Promise<void>): void {
    const started = { failure, running: this.#run(failure, every, task) };
    this.#tasks.add(started);
    void started.running.then(() => this.#tasks.delete(started));
  }

  async #run(failure: string, every: number, task: () => Promise<void>): Promise<void> {
    let failed = false;
    do {
      try {
        await task();
        failed = false;
      } catch (error) {
        // An outage is told of once, not every second.
        if (!failed) this.#log.error(failure, error);
        failed = true;
      }
    } while ((await Promise.race([this.#stop.promise, Bun.sleep(every)])) !== 'stop');
  }

  /** Nothing begins any more; resolves when the runs under way have ended. */
  async stop(): Promise<void> {
    this.#stop.resolve('stop');
    await Promise.all([...this.#tasks].map(({ running }) => running));
  }
}

/** Waits for all of `ends` together, but no longer than `ms`. Returns the names of those that have not ended by then. */
export async function endTogether(
  ends: Readonly<Record<string, Promise<unknown>>>,
  ms: number,
): Promise<readonly string[]> {
  const left = new Set(Object.keys(ends));
  const all = Object.entries(ends).map(async ([name, end]) => {
    await end.catch(() => {});
    left.delete(name);
  });
  let timer: Timer | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([Promise.all(all), late]);
  clearTimeout(timer);
  return [...left];
}

/** The first SIGTERM or SIGINT. The second ends the process there and then. */
export function stopSignal(): { readonly stopped: Promise<string> } & Disposable {
  const { promise, resolve } = Promise.withResolvers<string>();
  let first: number | undefined;
  let late: NodeJS.Timeout | undefined;
  const stop = (signal: string): void => {
    // Ctrl-C reaches the whole process group, and npm passes it on once more.
    if (first !== undefined && performance.now() - first > 500) process.exit(1);
    // Whatever hangs, in the start too, an operator who asked for the end gets it.
    late ??= setTimeout(() => process.exit(0), patience).unref();
    first ??= performance.now();
    resolve(signal);
  };
  // A worker hears from the process that started it, also when that process is gone.
  const interrupt = isWorker() ? () => {} : stop;
  process.on('SIGTERM', stop);
  process.on('SIGINT', interrupt);
  if (isWorker()) process.on('disconnect', () => stop('disconnect'));
  return {
    stopped: promise,
    [Symbol.dispose]() {
      clearTimeout(late);
      process.off('SIGTERM', stop);
      process.off('SIGINT', interrupt);
    },
  };
}

/** Logs what keeps the gateway from being ready, once when it begins and once when it ends. To be called every now and then. */
export function watchReadiness(gateway: Pick<Gateway, 'readiness'>, log: Log): () => Promise<void> {
  let failing: ReadonlyMap<string, string> = new Map();
  return async () => {
    const { checks } = await gateway.readiness();
    const now = new Map(
      Object.entries(checks).flatMap(([part, { ok, detail = 'not available' }]) =>
        ok ? [] : [[part, detail] as const],
      ),
    );
    for (const [part, detail] of now)
      if (failing.get(part) !== detail) log.warn('health check failing', { part, detail });
    for (const part of failing.keys()) if (!now.has(part)) log.info('health check recovered', { part });
    failing = now;
  };
}
