import { audit, shorten } from '../audit/record.ts';
import { discardHeldKey } from '../ca/held-key.ts';
import { inactiveWrites, revocationWrites } from '../ca/revocation.ts';
import type { Configuration, WithConfiguration } from '../configuration/configuration.ts';
import { type Fault, toFault } from '../fault.ts';
import type { Issuer } from '../ports/issuer.ts';
import type { Ports } from '../ports/ports.ts';
import type { Write } from '../ports/store.ts';
import type { IssuingCa } from '../records/issuing-ca.ts';
import type { UpstreamRequest } from '../records/upstream-request.ts';
import { notify } from '../webhooks/notify.ts';
import { fingerprint, parseCertificate } from '../x509/certificate.ts';
import type { WithCircuits } from './circuits.ts';
import { revokeUpstreamIfPossible } from './revocation.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'keyStores' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration {}

/** How long a repeated request gets the same refusal without another call to the upstream CA. Milliseconds. */
const refusalHolds = 300_000;
export const wrongHolds = 3_600_000;
/** How long administrators see a finished request. Milliseconds. */
const shown = 7 * 24 * 3_600_000;

/** Ends a request that the upstream CA rejected. */
export const refuse = (
  context: Dependencies,
  configuration: Configuration,
  request: UpstreamRequest,
  fault: Fault,
): Promise<void> => fail(context, configuration, request, fault, refusalHolds);

/** Ends a request without a certificate. `holds`: how long repeated requests get the same Fault. */
export async function fail(
  context: Dependencies,
  configuration: Configuration,
  request: UpstreamRequest,
  fault: Fault,
  holds: number,
  refused: Uint8Array | null = null,
): Promise<void> {
  await context.store.commit(failureWrites(context, configuration, request, fault, holds, refused));
  const { purpose } = request;
  if (!purpose || purpose.key.found) return;
  await context.keyStores.get(purpose.key.store)?.remove(purpose.key.id);
}

function failureWrites(
  context: Dependencies,
  { webhooks }: Configuration,
  request: UpstreamRequest,
  { code, detail }: Fault,
  holds: number,
  refused: Uint8Array | null,
): readonly Write[] {
  const { id, state, nextAt, issuer, subject, protocol, profileName } = request;
  const now = context.clock.now();
  return [
    {
      op: 'update',
      kind: 'upstreamRequest',
      id,
      where: { state, nextAt },
      set: {
        state: 'failed',
        ...(holds === 0 && { answersFor: null }),
        handle: null,
        nextAt: now + holds,
        expiresAt: now + shown,
        reason: detail,
        code,
        refused,
      },
    },
    audit(context, request.actor, {
      action: 'certificate.issue',
      object: `upstreamRequest:${id}`,
      outcome: code === 'forbidden' ? 'refused' : 'failed',
      detail: {
        upstream: issuer,
        subject: shorten(subject),
        profile: profileName,
        protocol,
        code,
        reason: shorten(detail),
        ...(refused && { fingerprint: fingerprint(refused) }),
      },
    }),
    ...notify(context, webhooks, 'upstream.failed', () => ({
      object: id,
      data: {
        upstream: issuer,
        subject,
        cert_profile: profileName,
        protocol,
        device: request.device,
        domain: request.domain,
        code,
        reason: detail,
      },
    })),
  ];
}

/**
 * Ends a request whose certificate was recorded but not handed out, because the upstream CA did not take its confirmation. The
 * certificate is revoked here and, if possible, at the upstream CA; a CA that it was issued for is deactivated.
 */
export async function withdraw(
  context: Dependencies,
  configuration: Configuration,
  request: UpstreamRequest,
  fault: Fault,
): Promise<void> {
  const { store } = context;
  const { actor, certificate: id, purpose } = request;
  const record = id === null ? undefined : await store.get('certificate', id);
  const good = record && (record.status === 'good' || record.status === 'hold');
  const reason = 'cessationOfOperation';
  const ca = await certifiedCa(context, request);
  await store.commit([
    ...failureWrites(context, configuration, request, fault, wrongHolds, null),
    ...(good ? revocationWrites(context, configuration, actor, record, { reason }) : []),
    ...(ca ? inactiveWrites(context, actor, ca) : []),
  ]);
  if (ca) context.configuration.expire();
  if (!good) return;
  if (purpose?.kind === 'key') await discardHeldKey(context, record.id);
  await revokeUpstreamIfPossible(context, configuration, actor, [record], reason);
}

/** Finds the CA of ours that a request created. */
export const certifiedCa = async (
  { store }: Pick<Ports, 'store'>,
  { purpose }: UpstreamRequest,
): Promise<IssuingCa | undefined> =>
  purpose?.kind === 'ca' ? store.find('issuingCa', { uniqueName: purpose.uniqueName }) : undefined;

/** Rejects a certificate that is not the requested one: it is not handed out, and the upstream CA is notified if possible. */
export async function rejectCertificate(
  context: Dependencies,
  configuration: Configuration,
  request: UpstreamRequest,
  issuer: Issuer,
  { certificate, confirm }: { readonly certificate: Uint8Array; readonly confirm?: string },
  fault: Fault,
): Promise<void> {
  const canReject = confirm !== undefined && issuer.confirm;
  if (canReject) await notifyIssuer(context, request, () => issuer.confirm!(confirm, certificate, false));
  else if (issuer.revoke)
    await notifyIssuer(context, request, async () => {
      if (!(await isHeld(context, configuration, request, certificate)))
        await issuer.revoke!(certificate, 'superseded');
    });
  await fail(context, configuration, request, fault, wrongHolds, certificate);
}

/** Whether a device holds a certificate with the same serial number, which a revocation would also revoke (RFC 5280 §5.3). */
async function isHeld(
  { store, log }: Dependencies,
  { cas }: Configuration,
  { id, issuer }: UpstreamRequest,
  certificate: Uint8Array,
): Promise<boolean> {
  const { serialNumber } = parseCertificate(certificate);
  for (const { record } of cas) {
    if (record.issuer !== issuer) continue;
    const held = await store.find('certificate', { ca: record.id, serialNumber });
    if (held?.status !== 'good' && held?.status !== 'hold') continue;
    log.warn(
      'an upstream CA issued two certificates with one serial number; the new one is not revoked there',
      {
        request: id,
        serialNumber,
        certificate: held.id,
      },
    );
    return true;
  }
  return false;
}

async function notifyIssuer(
  context: Pick<Ports, 'log'>,
  { issuer, id }: UpstreamRequest,
  how: () => Promise<void>,
): Promise<void> {
  await how().catch((error: unknown) =>
    context.log.error(
      'an upstream CA could not be notified that its certificate was rejected',
      toFault(error),
      {
        issuer,
        request: id,
      },
    ),
  );
}
