import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import { controlTypes } from '#adapters/wire/cmp/controls.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import type { SealedPkiMessage } from '#adapters/wire/cmp/message.ts';
import { readProtection } from '#adapters/wire/cmp/protection.ts';
import type { PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import { findValue, hasValue, typedValue } from '#adapters/wire/cmp/typed-value.ts';
import { toFault } from '#core/fault.ts';
import type {
  CertificateReference,
  Deferral,
  EnrolmentRequest,
  Issuance,
} from '#core/issuance/enrolment-request.ts';
import type { Exchange, ResponseMessage } from '#core/transactions/exchange.ts';
import { formatSerial, parseCertificate } from '#core/x509/certificate.ts';
import { type CertTemplate, hasPublicKey, parseCertReqMsg } from '#core/x509/crmf.ts';
import { isDescribedBy } from '#core/x509/described.ts';
import { requireRecipient } from './key-recipient.ts';
import type { CmpServices, MessageContext } from './message-context.ts';
import { replayableUntil } from './message-time.ts';
import {
  type FailureTable,
  failures,
  isOfRequest,
  mayBeGrantedLater,
  Refusal,
  refusalStatus,
} from './refusal.ts';
import { reply, sealPrivateKey, withoutRoots } from './reply.ts';
import { ofPkcs10, pollResponse, responses, waitingStatus } from './status-responses.ts';

type EnrolmentBody =
  | { readonly type: 'ir' | 'cr' | 'kur'; readonly requests: readonly Uint8Array[] }
  | Extract<PkiBody, { type: 'p10cr' }>;

export const isEnrolment = (body: PkiBody): body is EnrolmentBody => Object.hasOwn(responses, body.type);

/** The contents of an enrolment message that Postern uses. */
interface Enrolment extends Pick<EnrolmentRequest, 'operation' | 'request' | 'renews' | 'message'> {
  readonly type: EnrolmentBody['type'];
  readonly certReqId: number;
  /** The sender asks for implicit confirmation (RFC 9483 §4.1.1). */
  readonly implicitConfirm: boolean;
}

function readEnrolment(opening: SealedPkiMessage, body: EnrolmentBody, isSigned: boolean): Enrolment {
  const implicitConfirm = hasValue(opening.header.generalInfo, infoTypes.implicitConfirm);
  const message = isSigned ? opening.der : undefined;
  const common = { implicitConfirm, message };
  const { type } = body;
  if (type === 'p10cr') {
    const request = { kind: 'pkcs10', der: body.request } as const;
    return { type, operation: 'enrol', request, certReqId: ofPkcs10, ...common };
  }
  const [der, ...more] = body.requests;
  if (!der || more.length > 0) {
    // RFC 9483 §4.1.1
    throw new Refusal('badRequest', 'the message must hold exactly one certificate request');
  }
  const request = parseCertReqMsg(der);
  const { certReqId, controls } = request;
  if (type !== 'kur') return { type, operation: 'enrol', request, certReqId, ...common };
  const oldCertId = findValue(controls, controlTypes.oldCertId);
  const renews = oldCertId && readReference(oldCertId);
  return { type, operation: 'renew', request, certReqId, renews, ...common };
}

function readReference({
  issuer,
  serial,
}: NonNullable<ReturnType<typeof controlTypes.oldCertId.read>>): CertificateReference {
  if (issuer.kind !== 'directory')
    throw new Refusal('badCertId', 'oldCertId: the issuer must be a directoryName');
  return { issuer: issuer.value, serialNumber: formatSerial(serial) };
}

/** Handles ir, cr, kur and p10cr (RFC 9483 §4.1), each the first message of a transaction. */
export async function enrol(
  services: CmpServices,
  context: MessageContext,
  body: EnrolmentBody,
): Promise<Uint8Array> {
  if (body.type === 'kur' && context.protection === 'mac') {
    throw new Refusal(
      'wrongIntegrity',
      'a key update must be signed with the key of the certificate that it renews',
    );
  }
  const enrolment = readEnrolment(context.message, body, context.protection === 'signature');
  return submit(services, context, enrolment, undefined);
}

/** Repeats a pending enrolment for a pollReq. `opening`: the message that began the transaction. */
export async function resumeEnrolment(
  services: CmpServices,
  context: MessageContext,
  opening: SealedPkiMessage,
  body: EnrolmentBody,
  certReqIds: readonly number[],
): Promise<Uint8Array> {
  // The requester may be the registration authority that forwarded the message and protects it differently.
  const enrolment = readEnrolment(opening, body, readProtection(opening).kind === 'signature');
  if (certReqIds.length !== 1 || certReqIds[0] !== enrolment.certReqId) {
    throw new Refusal('badRequest', 'pollReq must hold exactly one certReqId, that of the pending request');
  }
  return submit(services, context, enrolment, context.transaction);
}

async function submit(
  services: CmpServices,
  context: MessageContext,
  enrolment: Enrolment,
  follows: Exchange['follows'],
): Promise<Uint8Array> {
  const { gateway, confirmWithin, decideWithin } = services;
  const { message, requester, name, relay, expires } = context;
  const { type, operation, request, renews, certReqId, implicitConfirm } = enrolment;
  const exchange: Exchange = {
    name,
    operation: type,
    certReqId,
    message: message.der,
    replayableUntil: replayableUntil(services, message.header, expires),
    follows,
    relay,
  };
  const replyWith = (status: PkiStatusInfo): Promise<ResponseMessage> =>
    reply(services, message, context.seal, {
      type: responses[type],
      caPubs: [],
      responses: [{ certReqId, status }],
    });
  let response: ResponseMessage | undefined;
  const keep = async (made: Promise<ResponseMessage>): Promise<ResponseMessage> => {
    response = await made;
    return response;
  };
  try {
    if (request.kind === 'crmf' && !hasPublicKey(request.template)) requireRecipient(context.recipient);
    const outcome = await gateway.enrol(requester, {
      operation,
      request,
      renews,
      message: enrolment.message,
      exchange: {
        ...exchange,
        confirmWithin: implicitConfirm ? undefined : confirmWithin,
        answer: (issuance) => keep(grant(services, context, enrolment, issuance)),
      },
    });
    if (outcome.kind === 'pending') {
      const answer = (deferral: Deferral): Promise<ResponseMessage> =>
        keep(
          follows ? pollResponse(services, context, certReqId, deferral) : replyWith(waitingStatus(deferral)),
        );
      await gateway.transactions.defer(requester, outcome, { ...exchange, answer }, decideWithin);
    }
  } catch (error) {
    if (!isOfRequest(error)) throw error;
    const { field } = toFault(error);
    const refused = replyWith(refusalStatus(error, field === 'renews' ? renewalFailures : failures));
    // The refusal of a pending request ends its transaction. A message without messageTime is remembered: somebody else could send it
    // again once a policy or a profile grants what it requests.
    if (follows || (message.header.messageTime === undefined && mayBeGrantedLater(error)))
      await gateway.transactions.refuse(requester, { ...exchange, answer: () => keep(refused) });
    return (await refused).message;
  }
  if (!response) throw new Error('the core did not ask for the response to an enrolment');
  return response.message;
}

/** Failures that concern the certificate to be renewed. */
const renewalFailures: FailureTable = { ...failures, notFound: 'badCertId' };

/** Whether a certificate (DER) has the values of a template that only the CA decides (RFC 4211 §5). */
function isHonoured({ serial, issuer, validity }: CertTemplate, certificate: Uint8Array): boolean {
  if (!serial && !issuer && !validity) return true;
  return isDescribedBy(parseCertificate(certificate), { serial, issuer, validity });
}

const spkiOf = (certificate: Uint8Array): Uint8Array => parseCertificate(certificate).spki;

const withoutConfirmation = [typedValue(infoTypes.implicitConfirm, true)];

/** Returns the response with the certificate (RFC 9483 §4.1.1) and with the time limit of its confirmation. */
async function grant(
  services: CmpServices,
  { message, requester, seal, protection, recipient }: MessageContext,
  { type, request, certReqId, implicitConfirm }: Enrolment,
  { certificate, chain, modified, privateKey }: Issuance,
): Promise<ResponseMessage> {
  const { clock, confirmWithin } = services;
  const domain = requester.domain.uniqueName;
  const isAsRequested = !modified && (request.kind !== 'crmf' || isHonoured(request.template, certificate));
  const status: PkiStatusInfo = { status: isAsRequested ? 'accepted' : 'grantedWithMods' };
  const root = chain.at(-1);
  // Only a message protected by a shared secret may deliver the trust anchor.
  const caPubs = type === 'ir' && protection === 'mac' && root ? [root] : [];
  const certifiedKeyPair = {
    certificate,
    privateKey:
      privateKey &&
      (await sealPrivateKey(services, domain, { privateKey, spki: spkiOf(certificate) }, recipient)),
  };
  const generalInfo = implicitConfirm
    ? withoutConfirmation
    : [typedValue(infoTypes.confirmWaitTime, clock.now() + confirmWithin)];
  return reply(
    services,
    message,
    seal,
    { type: responses[type], caPubs, responses: [{ certReqId, status, certifiedKeyPair }] },
    // RFC 9810 §7: a message with EnvelopedData has pvno 3.
    { generalInfo, certificates: withoutRoots(chain), ...(privateKey && { pvno: 3 }) },
  );
}
