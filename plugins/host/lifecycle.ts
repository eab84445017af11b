import type { Log } from '#core/ports/logs.ts';
import { isWorker } from './workers.ts';

/** Milliseconds: requests under way get the first, everything together the second. */
export const grace = 7000;
export const patience = 9500;

/** Runs `task` again and again until `stack` is disposed of, which waits for the run under way. */
export function repeat(
  stack: AsyncDisposableStack,
  log: Log,
  failure: string,
  every: number,
  task: () => Promise<void>,
): void {
  const stop = Promise.withResolvers<'stop'>();
  const run = async (): Promise<void> => {
    let failed = false;
    do {
      try {
        await task();
        failed = false;
      } catch (error) {
        // An outage is told of once, not every second.
        if (!failed) log.error(failure, error);
        failed = true;
      }
    } while ((await Promise.race([stop.promise, Bun.sleep(every)])) !== 'stop');
  };
  const running = run();
  stack.defer(() => {
    stop.resolve('stop');
    return running;
  });
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
