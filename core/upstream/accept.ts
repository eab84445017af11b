import { type AuditNote, audit, shorten } from '../audit/record.ts';
import { caWrites } from '../ca/create-ca.ts';
import type { Configuration, WithConfiguration } from '../configuration/configuration.ts';
import { readCa } from '../configuration/load-record.ts';
import { sameBytes } from '../der/bytes.ts';
import { Fault, toFault } from '../fault.ts';
import { issuedCertificate } from '../issuance/issue.ts';
import { newCertificate, signed } from '../issuance/new-certificate.ts';
import { demandNoOwnName } from '../issuance/own-names.ts';
import type { Issuer, IssuerAnswer, Order } from '../ports/issuer.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { Handle, Values, Write } from '../ports/store.ts';
import type { UpstreamRequest } from '../records/upstream-request.ts';
import { signatureShortcoming } from '../security/demands.ts';
import { certificateData } from '../webhooks/certificate-data.ts';
import { notify } from '../webhooks/notify.ts';
import type { Certificate } from '../x509/certificate.ts';
import { refreshChain, upstreamChain } from './chain.ts';
import { type CheckedCertificate, checkCertificate } from './check-certificate.ts';
import type { WithCircuits } from './circuits.ts';
import { rejectCertificate } from './failure.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'keyStores' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithSettings {}

type Answered = Extract<IssuerAnswer, { kind: 'issued' }>;

/** How long a certificate waits to be collected by its device. Milliseconds. */
const keptFor = 30 * 24 * 3_600_000;

/** Records the certificate of an upstream CA, if it is the requested one. Faults: unavailable when that cannot be checked yet. */
export async function accept(
  context: Dependencies,
  configuration: Configuration,
  request: UpstreamRequest,
  issuer: Issuer,
  { prepared }: Order,
  answer: Answered,
): Promise<void> {
  const check = (above: readonly Certificate[], issuers: readonly Certificate[]): CheckedCertificate =>
    checkCertificate(prepared.template, answer.certificate, above, issuers, context.clock.now());
  let checked: CheckedCertificate;
  try {
    checked = await checkedBy(context, configuration, request, check);
    demandSignature(configuration, checked);
    // A CA of ours may bear the names of this gateway.
    if (request.ca !== null) demandNoOwnName(context.settings.serverNames, checked.certificate);
    if (request.device !== null && !(await context.store.get('device', request.device)))
      throw new Fault('notFound', 'the device was deleted');
  } catch (error) {
    const fault = toFault(error);
    if (fault.code === 'unavailable' || fault.code === 'internal') throw fault;
    const isFinal = fault.code === 'notFound' || fault.code === 'forbidden';
    const said = isFinal ? fault : new Fault('unavailable', fault.detail, { cause: fault });
    return rejectCertificate(context, configuration, request, issuer, answer, said);
  }
  try {
    await record(context, configuration, request, checked, answer.confirm);
  } catch (error) {
    const fault = toFault(error);
    // A retry would find the same serial number or name taken.
    if (fault.code !== 'conflict' || fault.field === undefined) throw error;
    await rejectCertificate(
      context,
      configuration,
      request,
      issuer,
      answer,
      new Fault('unavailable', fault.detail, { cause: fault }),
    );
  }
}

/** Checks the signature algorithm against the security level, which was checked for everything else before the request. */
function demandSignature({ security }: Configuration, { certificate }: CheckedCertificate): void {
  const algorithm = certificate.signatureAlgorithm;
  const shortcoming = algorithm && signatureShortcoming(security, algorithm);
  if (shortcoming) throw new Fault('conflict', shortcoming);
}

/** Checks the certificate against the known CA certificates, and if it does not fit, against those that the upstream CA has now. */
async function checkedBy(
  context: Dependencies,
  configuration: Configuration,
  request: UpstreamRequest,
  check: (above: readonly Certificate[], issuers: readonly Certificate[]) => CheckedCertificate,
): Promise<CheckedCertificate> {
  if (request.ca === null) {
    // Any CA above the issuing one may certify a CA of ours, too.
    const above = await upstreamChain(context, request.issuer);
    return check(above, above);
  }
  const ca = configuration.ca(request.ca);
  if (!ca) throw new Fault('conflict', 'the issuing CA was deleted');
  const by = ({ certificate, above }: ReturnType<typeof readCa>): CheckedCertificate =>
    check([certificate, ...above], [certificate]);
  try {
    return by(ca);
  } catch {
    await refreshChain(context, ca).catch((failure: unknown) => {
      const fault = toFault(failure);
      if (fault.code === 'unavailable') throw fault;
    });
    // One of several concurrent responses, here or at another instance, updates the record.
    const record = await context.store.get('issuingCa', request.ca);
    if (!record) throw new Fault('conflict', 'the issuing CA was deleted');
    return by(readCa(record, false));
  }
}

async function record(
  context: Dependencies,
  { webhooks }: Configuration,
  request: UpstreamRequest,
  checked: CheckedCertificate,
  confirm: string | undefined,
): Promise<void> {
  const { id, state, nextAt } = request;
  const now = context.clock.now();
  const done = (certificate: number | Handle | null): Write => ({
    op: 'update',
    kind: 'upstreamRequest',
    id,
    where: { state, nextAt },
    set: {
      state: confirm === undefined ? 'issued' : 'received',
      handle: confirm ?? null,
      attempts: 0,
      nextAt: now,
      expiresAt: now + keptFor,
      reason: null,
      code: null,
      certificate,
    },
  });
  if (request.ca === null) {
    await context.store.commit([...newCa(context, request, checked), done(null)]);
    context.configuration.expire();
    return;
  }
  const { certificate } = checked;
  const { serialNumber, der } = certificate;
  const values = newCertificate(now, request.ca, request, certificate, serialNumber, signed(der));
  try {
    await context.store.commit([
      ...certificateWrites(context, request, values),
      done(issuedCertificate),
      ...notify(context, webhooks, 'certificate.issued', () => ({
        object: issuedCertificate,
        data: certificateData(values),
      })),
    ]);
  } catch (error) {
    const fault = toFault(error);
    if (fault.code !== 'conflict' || fault.field !== 'serialNumber') throw error;
    // The upstream CA may have returned the same certificate for the same request before.
    const { ca, device } = values;
    const known = await context.store.find('certificate', { ca, serialNumber });
    if (!known || !sameBytes(known.der, der) || known.device !== device || known.status !== 'good') {
      throw new Fault(
        'conflict',
        `the upstream CA issued two certificates with the serial number ${serialNumber}`,
        {
          field: 'serialNumber',
        },
      );
    }
    await context.store.commit([done(known.id)]);
  }
}

function certificateWrites(
  context: Pick<Ports, 'clock'>,
  { issuer, actor, profileName, protocol, purpose }: UpstreamRequest,
  values: Values<'certificate'>,
): readonly Write[] {
  const { serialNumber, fingerprint } = values;
  const event: AuditNote = {
    action: 'certificate.issue',
    object: 'certificate',
    detail: {
      subject: shorten(values.subject),
      serialNumber,
      profile: profileName,
      protocol,
      fingerprint,
      upstream: issuer,
    },
  };
  const writes: Write[] = [
    { op: 'insert', kind: 'certificate', values, as: issuedCertificate },
    audit(context, actor, event, issuedCertificate),
  ];
  if (purpose?.kind === 'key') {
    const held = { createdAt: context.clock.now(), certificate: issuedCertificate, key: purpose.key };
    writes.push({ op: 'insert', kind: 'certificateKey', values: held });
  }
  return writes;
}

function newCa(
  context: Pick<Ports, 'clock'>,
  { purpose, actor, issuer }: UpstreamRequest,
  { certificate, chain }: CheckedCertificate,
): readonly Write[] {
  if (purpose?.kind !== 'ca') throw new Fault('internal', 'the upstream request was not made for a CA');
  const { der, subject } = certificate;
  const made = { certificate: der, chain: chain.map((above) => above.der) };
  return caWrites(context, { ...purpose, subject, issuer }, made, purpose.key, actor);
}
