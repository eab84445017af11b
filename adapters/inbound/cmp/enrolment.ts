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
import { wait, waiting } from './deferral.ts';
import type { CmpSurroundings, Dialogue } from './dialogue.ts';
import { demandRecipient } from './key-recipient.ts';
import { replayableUntil } from './message-time.ts';
import { type FailureTable, failures, isOfRequest, Refusal, refusalStatus } from './refusal.ts';
import { ofPkcs10, responses } from './rejection.ts';
import { reply, sealPrivateKey, withoutRoots } from './reply.ts';

type EnrolmentBody =
  | { readonly type: 'ir' | 'cr' | 'kur'; readonly requests: readonly Uint8Array[] }
  | Extract<PkiBody, { type: 'p10cr' }>;

export const isEnrolment = (body: PkiBody): body is EnrolmentBody => Object.hasOwn(responses, body.type);

/** An enrolment message, read: what it asks for and how its answer looks. */
interface Enrolment extends Pick<EnrolmentRequest, 'operation' | 'request' | 'renews' | 'message'> {
  readonly type: EnrolmentBody['type'];
  readonly certReqId: number;
  /** RFC 9483 §4.1.1: the sender wants to do without a confirmation. */
  readonly implicitConfirm: boolean;
}

function readEnrolment(opening: SealedPkiMessage, body: EnrolmentBody, isSigned: boolean): Enrolment {
  const implicitConfirm = hasValue(opening.header.generalInfo, infoTypes.implicitConfirm);
  const message = isSigned ? opening.der : undefined;
  const said = { implicitConfirm, message };
  const { type } = body;
  if (type === 'p10cr') {
    const request = { kind: 'pkcs10', der: body.request } as const;
    return { type, operation: 'enrol', request, certReqId: ofPkcs10, ...said };
  }
  const [der, ...more] = body.requests;
  if (!der || more.length > 0) {
    // RFC 9483 §4.1.1
    throw new Refusal('badRequest', 'a message holds one certificate request, no more and no less');
  }
  const request = parseCertReqMsg(der);
  const { certReqId, controls } = request;
  if (type !== 'kur') return { type, operation: 'enrol', request, certReqId, ...said };
  const oldCertId = findValue(controls, controlTypes.oldCertId);
  const renews = oldCertId && readReference(oldCertId);
  return { type, operation: 'renew', request, certReqId, renews, ...said };
}

function readReference({
  issuer,
  serial,
}: NonNullable<ReturnType<typeof controlTypes.oldCertId.read>>): CertificateReference {
  if (issuer.kind !== 'directory')
    throw new Refusal('badCertId', 'oldCertId: the issuer is no directory name');
  return { issuer: issuer.value, serialNumber: formatSerial(serial) };
}

/** ir, cr, kur and p10cr (RFC 9483 §4.1): the first message of a transaction. */
export async function enrol(
  surroundings: CmpSurroundings,
  dialogue: Dialogue,
  body: EnrolmentBody,
): Promise<Uint8Array> {
  if (body.type === 'kur' && dialogue.protection === 'mac') {
    throw new Refusal('wrongIntegrity', 'a key update has to be signed, by the certificate that it renews');
  }
  const enrolment = readEnrolment(dialogue.message, body, dialogue.protection === 'signature');
  return ask(surroundings, dialogue, enrolment, undefined);
}

/** The same once more, for a pollReq that names it. */
export async function resumeEnrolment(
  surroundings: CmpSurroundings,
  dialogue: Dialogue,
  opening: SealedPkiMessage,
  body: EnrolmentBody,
  certReqIds: readonly number[],
): Promise<Uint8Array> {
  // The requester may be the registration authority that forwarded the message and protects it differently.
  const enrolment = readEnrolment(opening, body, readProtection(opening).kind === 'signature');
  if (certReqIds.length !== 1 || certReqIds[0] !== enrolment.certReqId) {
    throw new Refusal('badRequest', 'pollReq has to name the one request that is waiting, by its certReqId');
  }
  return ask(surroundings, dialogue, enrolment, dialogue.transaction);
}

async function ask(
  surroundings: CmpSurroundings,
  dialogue: Dialogue,
  enrolment: Enrolment,
  follows: Exchange['follows'],
): Promise<Uint8Array> {
  const { gateway, confirmWithin, decideWithin } = surroundings;
  const { message, requester, name, relay, expires } = dialogue;
  const { type, operation, request, renews, certReqId, implicitConfirm } = enrolment;
  const exchange: Exchange = {
    name,
    operation: type,
    certReqId,
    message: message.der,
    replayableUntil: replayableUntil(surroundings, message.header, expires),
    follows,
    relay,
  };
  const tell = (status: PkiStatusInfo): Promise<ResponseMessage> =>
    reply(surroundings, message, dialogue.seal, {
      type: responses[type],
      caPubs: [],
      responses: [{ certReqId, status }],
    });
  let answered: ResponseMessage | undefined;
  const remember = async (made: Promise<ResponseMessage>): Promise<ResponseMessage> => {
    answered = await made;
    return answered;
  };
  try {
    if (request.kind === 'crmf' && !hasPublicKey(request.template)) demandRecipient(dialogue.recipient);
    const outcome = await gateway.enrol(requester, {
      operation,
      request,
      renews,
      message: enrolment.message,
      exchange: {
        ...exchange,
        confirmWithin: implicitConfirm ? undefined : confirmWithin,
        answer: (issuance) => remember(grant(surroundings, dialogue, enrolment, issuance)),
      },
    });
    if (outcome.kind === 'pending') {
      const answer = (deferral: Deferral): Promise<ResponseMessage> =>
        remember(follows ? wait(surroundings, dialogue, certReqId, deferral) : tell(waiting(deferral)));
      await gateway.transactions.defer(requester, outcome, { ...exchange, answer }, decideWithin);
    }
  } catch (error) {
    if (!isOfRequest(error)) throw error;
    const { field } = toFault(error);
    const refused = tell(refusalStatus(error, field === 'renews' ? ofRenewed : failures));
    // A transaction that nobody waits for any more is over.
    if (follows)
      await gateway.transactions.refuse(requester, { ...exchange, answer: () => remember(refused) });
    return (await refused).message;
  }
  if (!answered) throw new Error('an outcome without its answer');
  return answered.message;
}

/** For what is wrong with the certificate that is to be renewed. */
const ofRenewed: FailureTable = { ...failures, notFound: 'badCertId' };

/** Whether a certificate, DER, is by chance what a template wishes that only the CA decides (RFC 4211 §5). */
function isHonoured({ serial, issuer, validity }: CertTemplate, certificate: Uint8Array): boolean {
  if (!serial && !issuer && !validity) return true;
  return isDescribedBy(parseCertificate(certificate), { serial, issuer, validity });
}

const spkiOf = (certificate: Uint8Array): Uint8Array => parseCertificate(certificate).spki;

const withoutConfirmation = [typedValue(infoTypes.implicitConfirm, true)];

/** The certificate (RFC 9483 §4.1.1), and until when a confirmation is awaited. */
async function grant(
  surroundings: CmpSurroundings,
  { message, requester, seal, protection, recipient }: Dialogue,
  { type, request, certReqId, implicitConfirm }: Enrolment,
  { certificate, chain, modified, privateKey }: Issuance,
): Promise<ResponseMessage> {
  const { clock, confirmWithin } = surroundings;
  const domain = requester.domain.uniqueName;
  const isAsAsked = !modified && (request.kind !== 'crmf' || isHonoured(request.template, certificate));
  const status: PkiStatusInfo = { status: isAsAsked ? 'accepted' : 'grantedWithMods' };
  const root = chain.at(-1);
  // What a shared secret protects may bring the trust anchor.
  const caPubs = type === 'ir' && protection === 'mac' && root ? [root] : [];
  const certifiedKeyPair = {
    certificate,
    privateKey:
      privateKey &&
      (await sealPrivateKey(surroundings, domain, { privateKey, spki: spkiOf(certificate) }, recipient)),
  };
  const generalInfo = implicitConfirm
    ? withoutConfirmation
    : [typedValue(infoTypes.confirmWaitTime, clock.now() + confirmWithin)];
  return reply(
    surroundings,
    message,
    seal,
    { type: responses[type], caPubs, responses: [{ certReqId, status, certifiedKeyPair }] },
    // RFC 9810 §7: what holds EnvelopedData is of version 3.
    { generalInfo, certificates: withoutRoots(chain), ...(privateKey && { pvno: 3 }) },
  );
}
