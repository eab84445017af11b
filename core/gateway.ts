import type { Evidence, Target } from './enrolment/evidence.ts';
import type { Ask, Outcome } from './enrolment/outcome.ts';
import type { Requester } from './enrolment/requester.ts';

/** Every use case: all that an inbound adapter is given. Every member's failures are Faults. */
export interface Gateway {
  /**
   * Who is it? Checks evidence against the target's domain. Faults: notFound (unknown domain or profile),
   * unauthenticated, forbidden, tooManyRequests.
   */
  admit(evidence: Evidence, target: Target): Promise<Requester>;
  /** Do it. The certificate is durably stored before this resolves. Faults: forbidden, badCsr, badAlgorithm, unavailable. */
  enrol(requester: Requester, ask: Ask): Promise<Outcome>;
  /** The domain's CA certificates, issuing CA first, up to the root, DER. Faults: notFound, unavailable. */
  caCertificates(domain: string | undefined): Promise<readonly Uint8Array[]>;
}
