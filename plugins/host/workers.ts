import type { Subprocess } from 'bun';
import type { Log } from '#core/ports/platform.ts';

const marker = 'POSTERN_WORKER';

/** Whether this process is one of several that another Postern process started. */
export const isWorker = (): boolean => process.env[marker] !== undefined;

const unfinishedMark = 'unfinished';

/** Whether the process that started this worker could not finish the start of the service. */
export const isUnfinished = (): boolean => process.env[marker] === unfinishedMark;

/** Tells the parent process that this worker accepts connections. */
export const tellReady = (): void => {
  process.send?.('ready');
};

interface WorkerOptions {
  readonly log: Log;
  readonly count: number;
  /** The arguments for each worker: `serve` with its options. */
  readonly command: readonly string[];
  /** Called once, when every worker accepts connections. */
  readonly ready: () => void;
  /** Milliseconds after SIGTERM within which workers must end. */
  readonly patience: number;
  /** The workers must complete the start of the service. */
  readonly unfinished: boolean;
}

/** The pause in milliseconds before a worker that exited is restarted. It doubles with each failure. */
const firstPause = 100;
const longestPause = 30_000;
/** A worker that lived this many milliseconds resets the count of failures. */
const settled = 60_000;

/**
 * Starts workers that listen on the same ports, restarts any that exit, and ends them on SIGTERM or SIGINT. Returns the exit
 * status: 0 after a signal, or that of a worker that cannot start.
 */
export async function runWorkers(options: WorkerOptions): Promise<number> {
  const { log, count, command, ready, patience, unfinished } = options;
  const running = new Set<Subprocess>();
  const end = Promise.withResolvers<number>();
  let waitingFor = count;
  let stopping = false;

  const start = (failures: number): void => {
    const startedAt = performance.now();
    let isReady = false;
    const worker = Bun.spawn([process.execPath, ...process.execArgv, ...command], {
      env: { ...process.env, [marker]: unfinished ? unfinishedMark : '1' },
      stdio: ['ignore', 'ignore', 'inherit'],
      ipc() {
        isReady = true;
        if (failures === 0 && waitingFor > 0 && --waitingFor === 0) ready();
      },
    });
    running.add(worker);
    void worker.exited.then(async (status) => {
      running.delete(worker);
      if (stopping) return;
      // Until all workers have been ready once, a worker that exits means that the start has failed.
      if (!isReady && waitingFor > 0) return end.resolve(status || 1);
      const next = performance.now() - startedAt > settled ? 1 : failures + 1;
      log.warn('a worker exited and is being restarted', {
        worker: worker.pid,
        status,
        signal: worker.signalCode,
      });
      await Bun.sleep(Math.min(longestPause, firstPause * 2 ** (next - 1)));
      if (!stopping) start(next);
    });
  };

  let first: number | undefined;
  const stop = (): void => {
    if (first !== undefined && performance.now() - first > 500) {
      for (const worker of running) worker.kill('SIGKILL');
      process.exit(1);
    }
    first ??= performance.now();
    end.resolve(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);

  for (let n = 0; n < count; n++) start(0);
  const status = await end.promise;
  stopping = true;
  const leaving = [...running];
  for (const worker of leaving) worker.kill('SIGTERM');
  const late = setTimeout(() => {
    for (const worker of leaving) worker.kill('SIGKILL');
  }, patience);
  await Promise.all(leaving.map((worker) => worker.exited));
  clearTimeout(late);
  return status;
}
