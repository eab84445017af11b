import { audit, shorten, systemActor } from '../audit/record.ts';
import type { Configuration, LoadedCa } from '../configuration/configuration.ts';
import { hex } from '../der/bytes.ts';
import { Fault, toFault } from '../fault.ts';
import type { IssuerAnswer, Prepared } from '../ports/issuer.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import { type Handle, newHandle, type Write } from '../ports/store.ts';
import type { Actor } from '../records/audit-event.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import { idOf } from '../storage/commit.ts';
import type { WithDamagedRecords } from '../storage/damaged-records.ts';
import { eachRecord } from '../storage/each-record.ts';
import { certificateData } from '../webhooks/certificate-data.ts';
import { notify } from '../webhooks/notify.ts';
import { parseCertificate } from '../x509/certificate.ts';
import { demandUnfactored } from '../x509/factorable-rsa.ts';
import { type PublicKey, readPublicKey } from '../x509/public-key.ts';
import type { VerifiedRequest } from '../x509/request.ts';
import { type NewCertificate, newCertificate, signed } from './new-certificate.ts';
import { type Draft, draft, type Preparation, prepare } from './prepare.ts';
import { newSerial } from './serial.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'entropy' | 'store'>, WithSettings {}

/** For whom, by which rules and over which protocol a certificate is issued. */
export interface IssuanceRequest {
  readonly ca: LoadedCa;
  readonly outcome: Preparation['outcome'];
  readonly subjectKey: PublicKey;
  readonly request: VerifiedRequest | undefined;
  readonly device: number | null;
  readonly domain: number | null;
  readonly profile: number | null;
  readonly profileName: string;
  readonly protocol: string;
  readonly actor: Actor;
  /** The certificate is for the gateway itself, so it may contain the gateway's names. */
  readonly forService?: true;
  /** The inventory name; default: the subject's common name. */
  readonly inventoryName?: string | undefined;
  /** Further writes of the commit that records the certificate (DER), which is `issuedCertificate` there. */
  readonly alongside?:
    | ((certificate: Uint8Array) => readonly Write[] | Promise<readonly Write[]>)
    | undefined;
}

/** The common part of requests that the gateway makes for itself, without a device and without a profile. */
export const internalIssuance = {
  forService: true,
  request: undefined,
  device: null,
  domain: null,
  profile: null,
  profileName: '',
  protocol: 'internal',
} as const satisfies Partial<IssuanceRequest>;

export interface Issued {
  readonly id: number;
  /** DER. */
  readonly certificate: Uint8Array;
  /** Its issuer first, up to the root, DER. */
  readonly chain: readonly Uint8Array[];
  /** Returns the id of a record that one of the `alongside` writes created. */
  idOf(handle: Handle): number;
}

/** The handle of the certificate in the commit that records it. */
export const issuedCertificate = newHandle('certificate');

type Preparable = Pick<IssuanceRequest, 'ca' | 'outcome' | 'subjectKey' | 'request' | 'forService'>;

const preparationOf = (
  { clock, entropy, settings }: Pick<Ports, 'clock' | 'entropy'> & WithSettings,
  { security }: Pick<Configuration, 'security'>,
  { ca, outcome, subjectKey, request, forService }: Preparable,
): Preparation => ({
  outcome,
  subjectKey,
  request,
  serial: newSerial(clock, entropy),
  issuerName: ca.certificate.subject,
  issuerKey: readIssuerKey(ca).type,
  issuer: ca.certificate,
  above: ca.above,
  security,
  ownNames: forService ? undefined : settings.serverNames,
});

/** Prepares a certificate as far as is possible without a signature. Faults: those of `prepare`. */
export const prepareIssuance = (...args: Parameters<typeof preparationOf>): Prepared =>
  prepare(preparationOf(...args));

/**
 * Like `prepareIssuance`, but returns all objections instead of throwing the first. The serial number is not recorded.
 */
export const draftIssuance = (...args: Parameters<typeof preparationOf>): Draft =>
  draft(preparationOf(...args));

/** Faults: unavailable for a CA that has been deactivated. */
export function demandActive({ record }: Pick<LoadedCa, 'record'>): void {
  if (!record.isActive)
    throw new Fault('unavailable', 'the issuing CA is not active', { id: 'ca_not_active' });
}

/** Issues a certificate. The numbered order ensures that a CA knows what it signed even if the power fails at any point. */
export async function issue(
  context: Dependencies,
  configuration: Pick<Configuration, 'security' | 'webhooks'>,
  issuance: IssuanceRequest,
): Promise<Issued> {
  const { ca } = issuance;
  demandActive(ca);
  // 1. Build the TBSCertificate from what the profile made of the request. 2. Lint it.
  const examined = demandUnfactored(issuance.subjectKey);
  if (examined) await examined;
  const prepared = prepareIssuance(context, configuration, issuance);
  // With a key in this process, nobody can see the signature before step 6 is durable, so no intent is needed.
  if (ca.issuer.inProcess) {
    const certificate = signedBy(await ca.issuer.issue({ prepared, operation: 'enrol' }));
    const values = recordOf(context, issuance, prepared, signed(certificate));
    const alongside = issuance.alongside && (await issuance.alongside(certificate));
    const insert: Write = { op: 'insert', kind: 'certificate', values, as: issuedCertificate };
    return record(
      context,
      ca,
      certificate,
      completion(context, configuration, issuance, values, insert, alongside),
    );
  }
  // 3. Record the serial number and the intent durably before a key outside this process signs.
  const intent = recordOf(context, issuance, prepared, {
    status: 'intended',
    der: prepared.tbs,
    fingerprint: '',
  });
  const [id] = await context.store.commit([{ op: 'insert', kind: 'certificate', values: intent }]);
  let certificate: Uint8Array;
  try {
    // 4. Sign.
    certificate = signedBy(await ca.issuer.issue({ prepared, operation: 'enrol' }));
    // 5. Check that the signed certificate is the linted one. `guardedKey` verifies the signature.
    demandSame(prepared, certificate);
  } catch (error) {
    const { detail } = toFault(error);
    await context.store.commit([
      {
        op: 'update',
        kind: 'certificate',
        id: id!,
        where: { status: 'intended' },
        set: { status: 'failed' },
      },
      audit(context, issuance.actor, {
        action: 'certificate.issue',
        object: `certificate:${id}`,
        outcome: 'failed',
        detail: { reason: shorten(detail) },
      }),
    ]);
    throw error;
  }
  // 6. Record the certificate and its audit event in one transaction. 7. Only then answer.
  const set = signed(certificate);
  const along = await issuance.alongside?.(certificate);
  const update: Write = {
    op: 'update',
    kind: 'certificate',
    id: id!,
    where: { status: 'intended' },
    set,
    as: issuedCertificate,
  };
  const writes = completion(context, configuration, issuance, { ...intent, ...set }, update, along);
  return record(context, ca, certificate, writes);
}

async function record(
  { store }: Pick<Ports, 'store'>,
  { chain }: LoadedCa,
  certificate: Uint8Array,
  writes: readonly Write[],
): Promise<Issued> {
  const ids = await store.commit(writes);
  const made = (handle: Handle): number => idOf(handle, writes, ids);
  return { id: made(issuedCertificate), certificate, chain, idOf: made };
}

/**
 * Marks intents that a crash left open as failed. No certificate was handed out for them. `olderThan` (ms since 1970) spares intents
 * that another instance is signing at the moment.
 */
export async function settleIntents(
  context: Pick<Ports, 'clock' | 'store'> & WithDamagedRecords,
  olderThan: number,
): Promise<void> {
  await eachRecord(context, {
    task: 'intents',
    kind: 'certificate',
    without: ['der'],
    query: {
      where: [
        { field: 'status', is: 'equal', value: 'intended' },
        { field: 'createdAt', is: 'less', value: olderThan },
      ],
      limit: 1000,
    },
    work: ({ id, serialNumber }) =>
      context.store.commit([
        { op: 'update', kind: 'certificate', id, where: { status: 'intended' }, set: { status: 'failed' } },
        audit(context, systemActor, {
          action: 'certificate.settle',
          object: `certificate:${id}`,
          outcome: 'failed',
          detail: { serialNumber },
        }),
      ]),
  });
}

const issuerKeys = new WeakMap<LoadedCa, PublicKey>();

function readIssuerKey(ca: LoadedCa): PublicKey {
  const known = issuerKeys.get(ca);
  if (known) return known;
  const key = readPublicKey(ca.certificate.spki);
  issuerKeys.set(ca, key);
  return key;
}

function signedBy(answer: IssuerAnswer): Uint8Array {
  if (answer.kind !== 'issued') throw new Fault('internal', 'a local issuer does not defer');
  return answer.certificate;
}

function demandSame({ tbs }: Prepared, certificate: Uint8Array): void {
  if (Buffer.compare(parseCertificate(certificate).tbs, tbs) === 0) return;
  throw new Fault('internal', 'the signed certificate differs from the prepared certificate');
}

const recordOf = (
  { clock }: Pick<Ports, 'clock'>,
  issuance: IssuanceRequest,
  { template }: Prepared,
  signed: Pick<StoredCertificate, 'status' | 'der' | 'fingerprint'>,
): NewCertificate =>
  newCertificate(clock.now(), issuance.ca.record.id, issuance, template, hex(template.serial), signed);

const none: readonly Write[] = [];

function completion(
  context: Pick<Ports, 'clock' | 'entropy'>,
  { webhooks }: Pick<Configuration, 'webhooks'>,
  issuance: IssuanceRequest,
  record: NewCertificate,
  write: Write,
  alongside: readonly Write[] = none,
): readonly Write[] {
  const { subject, serialNumber, fingerprint } = record;
  const own: readonly Write[] = [
    write,
    audit(
      context,
      issuance.actor,
      {
        action: 'certificate.issue',
        object: 'certificate',
        detail: {
          subject: shorten(subject),
          serialNumber,
          profile: issuance.profileName,
          protocol: issuance.protocol,
          fingerprint,
        },
      },
      issuedCertificate,
    ),
  ];
  if (alongside.length === 0 && webhooks.length === 0) return own;
  return [...own, ...alongside, ...notices(context, webhooks, record)];
}

const notices = (
  context: Pick<Ports, 'clock' | 'entropy'>,
  webhooks: Configuration['webhooks'],
  record: NewCertificate,
): readonly Write[] =>
  notify(context, webhooks, 'certificate.issued', () => ({
    object: issuedCertificate,
    data: certificateData(record),
  }));
