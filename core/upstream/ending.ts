import { audit, brief, type Context } from '../context.ts';
import { type Fault, toFault } from '../fault.ts';
import type { Issuer } from '../ports/issuer.ts';
import { notify } from '../webhooks/notify.ts';
import { fingerprint } from '../x509/certificate.ts';
import type { UpstreamRequest } from './upstream-request.ts';

/** For so long the same request gets the same refusal, before the upstream hears of it again. Milliseconds. */
const refusalHolds = 300_000;
export const wrongHolds = 3_600_000;
/** For so long what ended is shown to administrators. */
const shown = 7 * 24 * 3_600_000;

/** The upstream said no. */
export const refuse = (context: Context, request: UpstreamRequest, fault: Fault): Promise<void> =>
  fail(context, request, fault, refusalHolds);

/** Ends a request without a certificate; `holds`: for how long whoever asks the same again is told the same. */
export async function fail(
  context: Context,
  request: UpstreamRequest,
  { code, detail }: Fault,
  holds: number,
  refused: Uint8Array | null = null,
): Promise<void> {
  const { id, state, nextAt, issuer, subject, protocol, profileName } = request;
  const now = context.clock.now();
  const { webhooks } = await context.configuration.current();
  await context.store.commit([
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
        subject: brief(subject),
        profile: profileName,
        protocol,
        code,
        reason: brief(detail),
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
  ]);
  const { purpose } = request;
  if (!purpose || purpose.key.found) return;
  await context.keyStores.get(purpose.key.store)?.remove(purpose.key.id);
}

/** What came back is not what was asked for: nobody sees it, and the upstream hears so where it can. */
export async function disown(
  context: Context,
  request: UpstreamRequest,
  issuer: Issuer,
  { certificate, confirm }: { readonly certificate: Uint8Array; readonly confirm?: string },
  fault: Fault,
): Promise<void> {
  const told = confirm !== undefined && issuer.confirm;
  if (told) await tell(context, request, () => issuer.confirm!(confirm, certificate, false));
  else if (issuer.revoke) await tell(context, request, () => issuer.revoke!(certificate, 'superseded'));
  await fail(context, request, fault, wrongHolds, certificate);
}

async function tell(
  context: Context,
  { issuer, id }: UpstreamRequest,
  how: () => Promise<void>,
): Promise<void> {
  await how().catch((error: unknown) =>
    context.log.error('an upstream CA was not told that its certificate is refused', toFault(error), {
      issuer,
      request: id,
    }),
  );
}
