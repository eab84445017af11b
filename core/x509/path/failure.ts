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

/** A Fault of the parsers as a refusal of this certificate; anything else, a defect of ours, is thrown on. */
export function toRefusal(error: unknown, certificate: Certificate): Refusal {
  if (!(error instanceof Fault)) throw error;
  const reason = error.code === 'badAlgorithm' ? 'weakAlgorithm' : 'malformed';
  return new Refusal(reason, `${describe(certificate)}: ${error.detail}`);
}

const descriptions = new WeakMap<Certificate, string>();

/** How a certificate is called where it is refused. Its name is written once: a search refuses one certificate for many issuers. */
export function describe(certificate: Certificate): string {
  let text = descriptions.get(certificate);
  if (text === undefined) {
    const name = formatDistinguishedName(certificate.subject);
    text = name === '' ? `certificate ${certificate.serialNumber}` : `"${name.slice(0, 200)}"`;
    descriptions.set(certificate, text);
  }
  return text;
}
