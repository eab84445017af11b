/**
 * Milliseconds of processor time that this process spends on `run`: what a limit on work is held against, since a clock on the wall
 * also tells what other work the machine has.
 */
export async function processorTime(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
