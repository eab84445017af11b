import { Refusal } from './failure.ts';

/** The most certificates in a path, including leaf and anchor. Devices use two to four. */
export const longestPath = 10;

export const mostSignatureChecks = 100;
const mostSteps = 20_000;

/** The cost of larger pieces of work, in steps of about a microsecond. */
export const cost = { candidate: 50, validatedCertificate: 10 } as const;

/**
 * Limits the work of one validation. The peer chooses the certificates, and with names that all match,
 * cross-certificates and long lists of constraints it can make the number of paths exponential.
 */
export class Budget {
  #signatureChecks = mostSignatureChecks;
  #steps = mostSteps;

  /** Call before each verification of a signature. Throws a Refusal when the budget is used up. */
  signatureCheck(): void {
    if (--this.#signatureChecks < 0) {
      throw new Refusal('tooMuchWork', `more than ${mostSignatureChecks} signatures to verify`);
    }
  }

  /** Like `signatureCheck`, for all other work. */
  steps(count: number): void {
    this.#steps -= count;
    if (this.#steps < 0) throw new Refusal('tooMuchWork', 'too many candidates, names or policies');
  }
}
