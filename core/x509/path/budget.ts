import { Refusal } from './failure.ts';

/** Certificates in a path, leaf and anchor included. Devices use two to four. */
export const longestPath = 10;

const mostSignatures = 100;
/** Candidates looked at, names compared with constraints, policies: some microseconds each. */
const mostSteps = 20_000;

/**
 * The work that one validation may do. Certificates are the peer's to choose: names that all match, cross-signatures
 * and long lists of constraints make the number of paths exponential.
 */
export class Budget {
  #signatures = mostSignatures;
  #steps = mostSteps;

  /** Call before each verification of a signature. */
  signature(): void {
    if (--this.#signatures < 0)
      throw new Refusal('tooMuchWork', `needs more than ${mostSignatures} signature checks`);
  }

  steps(count: number): void {
    this.#steps -= count;
    if (this.#steps < 0) throw new Refusal('tooMuchWork', 'too many names, policies or candidates');
  }
}
