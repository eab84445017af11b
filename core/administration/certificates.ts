import { demand, type Principal } from '../access/principal.ts';
import { type Resource, resource, updateWrites } from '../access/resource.ts';
import type { Crls } from '../ca/crls.ts';
import { discardHeldKey, type TakenKey, takeHeldKey } from '../ca/held-key.ts';
import { deactivationWrites, type Revocation, revocationWrites } from '../ca/revocation.ts';
import { type Link, linksAbove } from '../configuration/ca-lookup.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { type CertificateInput, issueByName } from '../enrolment/issue-by-name.ts';
import { Fault } from '../fault.ts';
import type { Deferral } from '../issuance/enrolment-request.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import { revokeUpstream } from '../upstream/revocation.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'keyStores' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithSettings {}

export interface Certificates
  extends Omit<Resource<'certificate', CertificateInput, StoredCertificate>, 'create'> {
  /** See `issueByName`. */
  create(principal: Principal, input: CertificateInput): Promise<StoredCertificate | Deferral>;
  /** Revokes a certificate and issues a new CRL. Faults: notFound, malformed with `field`, conflict. */
  revoke(principal: Principal, id: number, revocation: Revocation): Promise<StoredCertificate>;
  /**
   * Revokes several certificates and issues one new CRL for each CA. If one certificate cannot be revoked, the others
   * still are.
   */
  revokeSeveral(
    principal: Principal,
    ids: readonly number[],
    revocation: Revocation,
  ): Promise<readonly RevocationResult[]>;
  /** Returns the certificates above this one, its issuer first. Faults: notFound. */
  above(principal: Principal, id: number): Promise<readonly Link[]>;
  /**
   * Returns the private key that Postern generated, once, and destroys it here. Faults: notFound, conflict if there is
   * none.
   */
  takeKey(principal: Principal, id: number): Promise<TakenKey>;
}

/** The result of revoking one certificate. */
export interface RevocationResult {
  readonly id: number;
  /** Why the certificate could not be revoked. */
  readonly problem?: string;
}

const inLists = ['good', 'hold', 'revoked'] as const;

const isVisible = ({ hidden, status }: StoredCertificate): boolean =>
  !hidden && (inLists as readonly string[]).includes(status);

export function certificates(context: Dependencies, crls: Crls): Certificates {
  const { store } = context;
  const find = async (id: number): Promise<StoredCertificate> => {
    const record = await store.get('certificate', id);
    if (!record || !isVisible(record)) throw new Fault('notFound', 'there is no such certificate');
    return record;
  };
  const collection = resource<'certificate', CertificateInput, StoredCertificate>(context, {
    kind: 'certificate',
    reads: 'certificates.read',
    writes: 'certificates.write',
    visible: isVisible,
    shown: [
      { field: 'hidden', is: 'equal', value: false },
      { field: 'status', is: 'oneOf', value: inLists },
    ],
    view: (record) => record,
    summary: ({ serialNumber, subject }) => ({ serialNumber, subject }),
    update: async ({ id }, { commonName }) =>
      updateWrites('certificate', id, commonName === undefined ? {} : { commonName }),
    // The record stays, hidden, because a CRL must still list the certificate.
    remove: async ({ id }) => [
      { op: 'update', kind: 'certificate', id, where: { hidden: false }, set: { hidden: true } },
    ],
    removed: ({ id }) => discardHeldKey(context, id),
  });
  /** Revokes one certificate, without a new CRL, and returns its CA. */
  async function revoke({ actor }: Principal, id: number, revocation: Revocation): Promise<number> {
    const record = await find(id);
    if (revocation.invalidityDate !== undefined && revocation.invalidityDate > context.clock.now()) {
      throw new Fault('malformed', 'this date is in the future', { field: 'invalidityDate' });
    }
    const configuration = await context.configuration.current();
    const writes = [
      ...revocationWrites(context, configuration, actor, record, revocation),
      ...(revocation.reason === 'removeFromCRL'
        ? []
        : deactivationWrites(context, configuration, actor, record)),
    ];
    await revokeUpstream(context, configuration, record, revocation.reason);
    await store.commit(writes);
    return record.ca;
  }
  return {
    ...collection,
    async create(principal, input) {
      demand(principal, 'certificates.issue');
      const made = await issueByName(context, input, principal.actor);
      return typeof made === 'number' ? find(made) : made;
    },
    async revoke(principal, id, revocation) {
      demand(principal, 'certificates.revoke');
      const ca = await revoke(principal, id, revocation);
      context.configuration.expire();
      await crls.generateAfterRevocation([ca], principal.actor);
      return find(id);
    },
    async revokeSeveral(principal, ids, revocation) {
      demand(principal, 'certificates.revoke');
      const cas = new Set<number>();
      const results: RevocationResult[] = [];
      try {
        for (const id of new Set(ids)) {
          try {
            cas.add(await revoke(principal, id, revocation));
            results.push({ id });
          } catch (error) {
            if (!(error instanceof Fault) || error.code === 'internal') throw error;
            results.push({ id, problem: error.detail });
          }
        }
      } finally {
        if (cas.size > 0) {
          context.configuration.expire();
          await crls.generateAfterRevocation(cas, principal.actor);
        }
      }
      return results;
    },
    async above(principal, id) {
      demand(principal, 'certificates.read');
      return linksAbove(await context.configuration.current(), (await find(id)).ca);
    },
    async takeKey(principal, id) {
      demand(principal, 'certificates.issue');
      return takeHeldKey(context, await find(id), principal.actor);
    },
  };
}
