import { Fault } from '#core/fault.ts';

/** What inputs are put into. */
export interface Target {
  readonly name: string;
  /** The files of the corpus that are inputs of it: names of folders in `corpus/`. */
  readonly corpora: readonly string[];
  /** What one run may use, and for what it takes in: milliseconds of processor time. */
  readonly limit: { readonly base: number; readonly perKilobyte: number };
  /** Ready to take inputs. */
  open(): Promise<Runner>;
}

export interface Runner extends AsyncDisposable {
  /** Throws when it found a defect. Returns in a few words how the input was answered: an answer that is new makes an input worth keeping. */
  run(input: Uint8Array): Promise<string> | string;
}

/** The letters that a text begins with, as far as they are likely to be ours: what an input says would make every answer a new one. */
export const shapeOf = (text: string): string => text.slice(0, 60).replace(/0x[0-9a-f]+|[^a-z :]+/gi, '…');

/** In the words of a Fault. Throws on what is no Fault. */
function faultOnly(error: unknown): string {
  if (!(error instanceof Fault) || error.code === 'internal') throw error;
  return `${error.code} ${shapeOf(error.detail.slice(0, 30))}`;
}

/** A target that reads its input and keeps nothing. Anything but a Fault is a defect. */
export function parser(
  name: string,
  corpora: readonly string[],
  read: (input: Uint8Array) => unknown,
  limit = { base: 100, perKilobyte: 20 },
): Target {
  return {
    name,
    corpora,
    limit,
    open: async () => ({
      async run(input) {
        try {
          await read(input);
          return 'read';
        } catch (error) {
          return faultOnly(error);
        }
      },
      [Symbol.asyncDispose]: async () => {},
    }),
  };
}
