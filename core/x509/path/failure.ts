import { toFault } from '../../fault.ts';

/** Why no path from a certificate to an anchor was accepted. */
export type PathFailure =
  | 'expired'
  | 'notYetValid'
  | 'badSignature'
  | 'unknownIssuer' // no anchor can be reached
  | 'notACa'
  | 'pathTooLong' // longer than a basicConstraints in it allows
  | 'keyUsage'
  | 'nameConstraints'
  | 'unknownCriticalExtension'
  | 'revoked'
  | 'policy'
  | 'weakAlgorithm' // also: unknown, so that its strength cannot be told
  | 'purpose'
  | 'tooMuchWork' // the search was cut short
  | 'malformed';

/** Thrown inside this folder only: `validatePath` answers with a value. */
export class Refusal extends Error {
  readonly reason: PathFailure;

  constructor(reason: PathFailure, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

/** What a certificate's parsers throw, as a refusal of the path; a defect of ours is thrown on. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const fault = toFault(error);
  if (fault.code === 'malformed') return new Refusal('malformed', fault.detail);
  if (fault.code === 'badAlgorithm') return new Refusal('weakAlgorithm', fault.detail);
  throw error;
}
