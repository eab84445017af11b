import { processorTime } from '#tests/processor-time.ts';
import type { Runner, Target } from './target.ts';

export type Verdict =
  | { readonly ok: true; readonly answer: string }
  | { readonly ok: false; readonly why: string; readonly error?: unknown };

const attempts = 3;

/** Runs one input: only Faults may come out, in a time that its size allows. An input that takes longer is run again, as other work of the process may have been the reason. */
export async function judge(target: Target, runner: Runner, input: Uint8Array): Promise<Verdict> {
  const allowed = target.limit.base + (target.limit.perKilobyte * input.length) / 1024;
  let least = Number.POSITIVE_INFINITY;
  let answer = '';
  for (let n = 0; n < attempts && least > allowed; n++) {
    try {
      least = Math.min(
        least,
        await processorTime(async () => {
          answer = await runner.run(input);
        }),
      );
    } catch (error) {
      return { ok: false, why: String(error), error };
    }
  }
  if (least <= allowed) return { ok: true, answer };
  return {
    ok: false,
    why: `${least.toFixed()} ms of processor time for ${input.length} octets: ${allowed.toFixed()} are allowed`,
  };
}
