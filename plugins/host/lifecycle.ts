import type { Gateway } from '#core/gateway.ts';
import type { Log } from '#core/ports/platform.ts';
import { isWorker } from './workers.ts';

/**
 * Milliseconds after the signal: requests and tasks in progress end within `grace`, the process within `patience`. Everything is
 * stopped at the same time, so that the waits do not add up.
 */
export const grace = 4000;
export const patience = 6000;

interface Task {
  readonly failure: string;
  readonly running: Promise<void>;
}

/** Tasks that are repeated until they are stopped. */
export class Tasks {
  readonly #log: Log;
  readonly #stop = Promise.withResolvers<'stop'>();
  readonly #tasks = new Set<Task>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Runs `task` now, and again `every` milliseconds after each end. `failure` is the log message if it fails. */
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
        // Logged once per outage, not at every attempt.
        if (!failed) this.#log.error(failure, error);
        failed = true;
      }
    } while ((await Promise.race([this.#stop.promise, Bun.sleep(every)])) !== 'stop');
  }

  /** Starts no further runs. Resolves when the current runs have ended. */
  async stop(): Promise<void> {
    this.#stop.resolve('stop');
    await Promise.all([...this.#tasks].map(({ running }) => running));
  }
}

/** Waits for all of `ends` together, at most `ms` milliseconds. Returns the names of those that have not ended. */
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

/** Returns a promise of the first SIGTERM or SIGINT. A second signal ends the process immediately. */
export function stopSignal(): { readonly stopped: Promise<string> } & Disposable {
  const { promise, resolve } = Promise.withResolvers<string>();
  let first: number | undefined;
  let late: NodeJS.Timeout | undefined;
  const stop = (signal: string): void => {
    // Ctrl-C reaches the whole process group, and npm forwards it a second time.
    if (first !== undefined && performance.now() - first > 500) process.exit(1);
    // The process ends even if something hangs, also during the start.
    late ??= setTimeout(() => process.exit(0), patience).unref();
    first ??= performance.now();
    resolve(signal);
  };
  // The parent process sends SIGTERM to its workers; if the parent dies, they are disconnected.
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

/** Returns a task that logs each failing health check once when it fails and once when it recovers. Call it regularly. */
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

/**
 * Tells systemd that the service accepts connections, if it waits for that (`Type=notify`, sd_notify(3)). Bun has no datagram
 * sockets for local addresses, so systemd's own command sends the message; the unit needs `NotifyAccess=all`.
 */
export function tellSystemd(): void {
  if (!process.env.NOTIFY_SOCKET) return;
  try {
    const { success, stderr } = Bun.spawnSync(['systemd-notify', '--ready'], { stdout: 'ignore' });
    if (!success) throw new Error(stderr.toString().trim());
  } catch (error) {
    console.error(`postern: systemd cannot be notified: ${(error as Error).message}`);
  }
}
