import { Refusal } from './failure.ts';

/** Certificates in a path, leaf and anchor included. Devices use two to four. */
export const longestPath = 10;

export const mostSignatureChecks = 100;
const mostSteps = 20_000;

/** What larger pieces of work count for, in steps of about a microsecond. */
export const cost = { candidate: 50, validatedCertificate: 10 } as const;

/**
 * The work that one validation may do. Certificates are the peer's to choose: names that all match, cross-certificates
 * and long lists of constraints make the number of paths exponential.
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

  /** As `signatureCheck`, for all other work. */
  steps(count: number): void {
    this.#steps -= count;
    if (this.#steps < 0) throw new Refusal('tooMuchWork', 'too many candidates, names or policies');
  }
}
