import type { AuditAction } from '../audit/actions.ts';
import { audit } from '../audit/record.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Write } from '../ports/store.ts';
import type { Actor } from '../records/audit-event.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import type { IssuingCa } from '../records/issuing-ca.ts';
import { certificateData } from '../webhooks/certificate-data.ts';
import { notify } from '../webhooks/notify.ts';
import type { RevocationReason } from '../x509/crl.ts';

export interface Revocation {
  readonly reason: RevocationReason;
  /** When the key was or may have been compromised, ms since 1970 (RFC 5280 §5.3.2). */
  readonly invalidityDate?: number;
}

/**
 * Returns the writes that revoke `record`, put it on hold, or with removeFromCRL release it from hold (RFC 5280
 * §5.3.1). They are guarded by its current status. Faults: conflict if the status does not permit the change.
 */
export function revocationWrites(
  context: Pick<Ports, 'clock' | 'entropy'>,
  { webhooks }: Pick<Configuration, 'webhooks'>,
  actor: Actor,
  record: StoredCertificate,
  { reason, invalidityDate }: Revocation,
): readonly Write[] {
  const { id, status } = record;
  const now = context.clock.now();
  const noted: Write = {
    op: 'update',
    kind: 'issuingCa',
    id: record.ca,
    set: { lastRevocationAt: now },
    quiet: true,
  };
  const audited = (action: AuditAction): Write =>
    audit(context, actor, {
      action,
      object: `certificate:${id}`,
      detail: { reason, serialNumber: record.serialNumber },
    });
  if (reason === 'removeFromCRL') {
    if (status !== 'hold')
      throw new Fault('conflict', 'only a certificate on hold can be released', {
        id: 'certificate_not_on_hold',
      });
    const set = { status: 'good', revokedAt: null, revocationReason: null, invalidityDate: null } as const;
    return [
      noted,
      { op: 'update', kind: 'certificate', id, where: { status }, set },
      audited('certificate.release'),
      ...notify(context, webhooks, 'certificate.released', () => ({
        object: id,
        data: { ...certificateData(record), status: 'good' },
      })),
    ];
  }
  if (status !== 'good' && status !== 'hold') {
    throw new Fault(
      'conflict',
      status === 'revoked' ? 'the certificate is already revoked' : 'the certificate was never issued',
      { id: status === 'revoked' ? 'certificate_revoked' : 'certificate_not_issued' },
    );
  }
  if (status === 'hold' && reason === 'certificateHold')
    throw new Fault('conflict', 'the certificate is already on hold', { id: 'certificate_on_hold' });
  const set = {
    status: reason === 'certificateHold' ? 'hold' : 'revoked',
    revokedAt: record.revokedAt ?? now,
    revocationReason: reason,
    invalidityDate: invalidityDate ?? record.invalidityDate,
  } as const;
  return [
    noted,
    { op: 'update', kind: 'certificate', id, where: { status }, set },
    audited('certificate.revoke'),
    ...notify(context, webhooks, 'certificate.revoked', () => ({
      object: id,
      data: { ...certificateData(record), status: set.status, reason },
    })),
  ];
}

/** Returns the writes that deactivate our own CA if `record` is its certificate. Faults: conflict for a root. */
export function deactivationWrites(
  context: Pick<Ports, 'clock'>,
  configuration: Pick<Configuration, 'casNamed'>,
  actor: Actor,
  { ca: issuer, subject, der }: StoredCertificate,
): readonly Write[] {
  const ca = configuration
    .casNamed(subject)
    .find(({ record }) => Buffer.compare(record.certificate, der) === 0)?.record;
  if (!ca) return [];
  // Clients that trust a root do not look for it on a CRL, least of all on its own.
  if (ca.id === issuer)
    throw new Fault('conflict', 'a root cannot be revoked: remove it from the truststores', {
      id: 'root_not_revocable',
    });
  return inactiveWrites(context, actor, ca);
}

/** Returns the writes that deactivate one of our own CAs. */
export const inactiveWrites = (
  context: Pick<Ports, 'clock'>,
  actor: Actor,
  { id }: Pick<IssuingCa, 'id'>,
): readonly Write[] => [
  { op: 'update', kind: 'issuingCa', id, set: { isActive: false, updatedAt: context.clock.now() } },
  audit(context, actor, { action: 'issuingCa.deactivate', object: `issuingCa:${id}` }),
];
