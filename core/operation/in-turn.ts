import type { Log } from '../ports/logs.ts';

export type Task = () => Promise<unknown>;

/** What cannot be done keeps nothing else from being done: the first failure is thrown in the end, any other is logged. */
export async function inTurn(tasks: readonly Task[], log: Log): Promise<void> {
  const failures: unknown[] = [];
  for (const task of tasks) await task().catch((error) => failures.push(error));
  const [first, ...others] = failures;
  for (const error of others) log.error('maintenance failed', error);
  if (failures.length > 0) throw first;
}
