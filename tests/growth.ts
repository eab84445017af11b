import { processorTime } from './processor-time.ts';

const factor = 8;
const attempts = 4;
/** Milliseconds. Shorter times say more about the machine than about the work. */
const negligible = 5;

/**
 * Whether the processor time of `run` grows faster than its input: eight times the input may take up to thirty times as long, while
 * quadratic work takes sixty-four times as long. The shortest of several attempts counts, because nothing but other work of the
 * process makes one longer. `of` makes an input of a size.
 */
export async function growsFasterThanInput<T>(
  of: (size: number) => T,
  run: (input: T) => unknown,
  size: number,
): Promise<boolean> {
  const large = await shortest(of(size * factor), run);
  if (large < negligible) return false;
  return large > 30 * (await shortest(of(size), run));
}

async function shortest<T>(input: T, run: (input: T) => unknown): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < attempts && least > negligible / 100; n++) {
    least = Math.min(least, await processorTime(() => run(input)));
  }
  return least;
}
