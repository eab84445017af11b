import { processorTime } from './processor-time.ts';

const factor = 16;
/** For sixteen times the input linear work takes sixteen times as long, quadratic work 256 times. */
const fasterThanLinear = 64;
const rounds = 3;
const attempts = 2;
/** Milliseconds. Shorter times say more about the machine than about the work. */
const negligible = 5;

/**
 * Whether the processor time of `run` grows faster than its input. The shortest of several attempts counts, and linear work has to
 * show once in several rounds: collecting garbage, or a busy machine, makes single attempts longer. `of` makes an input of a size.
 */
export async function growsFasterThanInput<T>(
  of: (size: number) => T,
  run: (input: T) => unknown,
  size: number,
): Promise<boolean> {
  const [small, large] = [of(size), of(size * factor)];
  for (let n = 0; n < rounds; n++) {
    const time = await shortest(large, run);
    if (time < negligible || time < fasterThanLinear * (await shortest(small, run))) return false;
  }
  return true;
}

async function shortest<T>(input: T, run: (input: T) => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < attempts && least > negligible / 100; n++) {
    least = Math.min(least, await processorTime(() => run(input)));
  }
  return least;
}
