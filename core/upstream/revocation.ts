import { audit, recordRefusal, shorten } from '../audit/record.ts';
import type { Configuration } from '../configuration/configuration.ts';
import { Fault, toFault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Actor } from '../records/audit-event.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import type { RevocationReason } from '../x509/crl.ts';
import { issuerNamed } from './chain.ts';
import type { WithCircuits } from './circuits.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'issuers' | 'log' | 'store'>, WithCircuits {}

type Revoked = Pick<StoredCertificate, 'id' | 'ca' | 'der'>;

/**
 * Revokes, holds or releases a certificate at the upstream CA that issued it, before that is recorded here, because relying parties use
 * the CRL of the upstream CA. Does nothing for a certificate of a CA of ours. Faults: unsupported, unavailable, forbidden.
 */
export async function revokeUpstream(
  context: Dependencies,
  configuration: Pick<Configuration, 'ca'>,
  { ca, der }: Revoked,
  reason: RevocationReason,
): Promise<void> {
  const known = configuration.ca(ca)?.record;
  if (!known || known.key) return;
  const name = known.issuer ?? '';
  const issuer = issuerNamed(context, name);
  const { protocol } = issuer;
  if (!issuer.revoke) {
    throw new Fault(
      'unsupported',
      `the upstream CA "${name}" cannot revoke certificates over ${protocol?.toUpperCase()}`,
      {
        hint: 'revoke the certificate at the upstream CA',
      },
    );
  }
  context.circuits.demand(name);
  await context.circuits.watch(name, () => issuer.revoke!(der, reason));
}

/**
 * Like `revokeUpstream`, for certificates that are already revoked here. A failure is recorded in the audit trail, because nobody could
 * be asked to retry.
 */
export async function revokeUpstreamIfPossible(
  context: Dependencies,
  configuration: Pick<Configuration, 'ca'>,
  actor: Actor,
  records: readonly Revoked[],
  reason: RevocationReason,
): Promise<void> {
  for (const record of records) {
    try {
      await revokeUpstream(context, configuration, record, reason);
    } catch (error) {
      const { code, detail } = toFault(error);
      if (code === 'internal')
        context.log.error('an upstream CA could not be notified of a revocation', error);
      await recordRefusal(
        context,
        audit(context, actor, {
          action: 'certificate.revokeUpstream',
          object: `certificate:${record.id}`,
          outcome: 'failed',
          detail: { reason, code, why: shorten(detail) },
        }),
      );
    }
  }
}
