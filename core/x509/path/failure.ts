import { Fault } from '../../fault.ts';
import type { Certificate } from '../certificate.ts';
import { formatDistinguishedName } from '../name.ts';

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
  | 'weakAlgorithm' // or unknown, so that its strength is unknown
  | 'purpose'
  | 'tooMuchWork' // the search was cut short
  | 'malformed';

/** Thrown only inside this folder: `validatePath` returns a value. */
export class Refusal extends Error {
  readonly reason: PathFailure;

  constructor(reason: PathFailure, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

/** Converts a Fault of a parser to a refusal of this certificate. Rethrows any other error, which is a defect. */
export function toRefusal(error: unknown, certificate: Certificate): Refusal {
  if (!(error instanceof Fault)) throw error;
  const reason = error.code === 'badAlgorithm' ? 'weakAlgorithm' : 'malformed';
  return new Refusal(reason, `${describe(certificate)}: ${error.detail}`);
}

const descriptions = new WeakMap<Certificate, string>();

/** Returns the name of a certificate for a refusal, cached: a search may refuse one certificate for many issuers. */
export function describe(certificate: Certificate): string {
  let text = descriptions.get(certificate);
  if (text === undefined) {
    const name = formatDistinguishedName(certificate.subject);
    text = name === '' ? `certificate ${certificate.serialNumber}` : `"${name.slice(0, 200)}"`;
    descriptions.set(certificate, text);
  }
  return text;
}
