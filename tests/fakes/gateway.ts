import { Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { EnrolmentRequest, EnrolmentResult } from '#core/issuance/enrolment-request.ts';
import type { Evidence, Target } from '#core/requester/evidence.ts';
import type { Requester } from '#core/requester/requester.ts';
import { verifyPkcs10 } from '#core/x509/request.ts';

/** A device that the fake knows, in its one domain, which is the default one, and the profile that it offers. */
export const known = {
  username: 'device-1',
  password: 'päss:word',
  domain: 'plant',
  profile: 'tls_client',
} as const;

interface Call {
  readonly evidence: Evidence;
  readonly target: Target;
  readonly ask?: EnrolmentRequest;
}

/** The gateway as enrolment protocols see it: one device, one domain, any certificate trusted. */
export class FakeGateway implements Pick<Gateway, 'admit' | 'enrol' | 'caCertificates'> {
  /** What was asked, oldest first. */
  readonly calls: Call[] = [];
  readonly chain: readonly Uint8Array[];
  /** What `enrol` resolves to, once the request has been verified. */
  outcome: EnrolmentResult;
  /** Thrown in place of an answer. */
  failure: unknown;
  readonly #admitted = new Map<Requester, Call>();

  constructor(certificate: Uint8Array, chain: readonly Uint8Array[]) {
    this.chain = chain;
    this.outcome = { kind: 'issued', certificate, chain, modified: false };
  }

  async admit(evidence: Evidence, target: Target): Promise<Requester> {
    const call = { evidence, target };
    this.calls.push(call);
    this.#demandDomain(target.domain);
    const wrong =
      evidence.kind === 'password' &&
      (evidence.username !== known.username || evidence.password !== known.password);
    if (evidence.kind === 'none' || wrong) throw new Fault('unauthenticated', 'who are you?');
    const requester = { target, address: evidence.address } as Requester;
    this.#admitted.set(requester, call);
    return requester;
  }

  async enrol(requester: Requester, ask: EnrolmentRequest): Promise<EnrolmentResult> {
    const call = this.#admitted.get(requester);
    if (!call) throw new Error('enrol without admit');
    this.calls[this.calls.indexOf(call)] = { ...call, ask };
    if (this.failure !== undefined) throw this.failure;
    verifyPkcs10(ask.request.der);
    return this.outcome;
  }

  async caCertificates(domain: string | undefined, profile?: string): Promise<readonly Uint8Array[]> {
    this.#demandDomain(domain);
    if (profile === 'elsewhere') throw new Fault('forbidden', 'this domain does not offer the profile');
    if (profile !== undefined && profile !== known.profile) {
      throw new Fault('notFound', 'there is no such profile');
    }
    if (this.failure !== undefined) throw this.failure;
    return this.chain;
  }

  #demandDomain(domain: string | undefined): void {
    if (domain !== undefined && domain !== known.domain)
      throw new Fault('notFound', 'there is no such domain');
  }
}
