import { audit, brief, recordRefusal } from '../audit/record.ts';
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
 * Has the upstream revoke what it has issued, put it on hold or release it, before that is recorded here: its CRL is the one that
 * counts. Nothing to do for what a CA of ours has issued. Faults: unsupported where the upstream cannot be told, unavailable,
 * forbidden.
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
 * The same for what nobody can be asked about: the certificate counts for nothing here from now on, and where its CA could not be
 * told, the audit trail says so.
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
          detail: { reason, code, why: brief(detail) },
        }),
      );
    }
  }
}
