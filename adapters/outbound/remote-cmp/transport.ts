import { createHmac } from 'node:crypto';
import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import type { MacParameters } from '#adapters/wire/cmp/mac.ts';
import {
  buildPkiMessage,
  type PkiMessage,
  type Protector,
  parsePkiMessage,
} from '#adapters/wire/cmp/message.ts';
import { macProtection, signatureProtection } from '#adapters/wire/cmp/protection.ts';
import { typedValue } from '#adapters/wire/cmp/typed-value.ts';
import { sameBytes } from '#core/der/bytes.ts';
import { Fault } from '#core/fault.ts';
import { defaultSignatureAlgorithm } from '#core/x509/algorithm.ts';
import { parseCertificate, subjectKeyIdentifierOf } from '#core/x509/certificate.ts';
import { emptyName, type Name, sameName } from '#core/x509/name.ts';
import { readPublicKey } from '#core/x509/public-key.ts';
import { exchange, type TlsIdentity, type UpstreamReply } from '../upstream/exchange.ts';
import type { Sign } from './signing-key.ts';

/** How this gateway protects its messages. Certificates in DER, its own first. */
export type Protection =
  | {
      readonly kind: 'mac';
      readonly reference: string;
      readonly secret: Uint8Array;
      readonly parameters: MacParameters;
    }
  | { readonly kind: 'signature'; readonly certificates: readonly Uint8Array[]; readonly sign: Sign };

export interface CmpEndpoint {
  readonly url: string;
  readonly tls: TlsIdentity;
  readonly pvno: 2 | 3;
  /** The recipient of messages; the empty name if none is configured. */
  readonly recipient: Name;
  /** Which of the gateway's own certificates are sent in extraCerts. */
  readonly extraCerts: 'chain' | 'certificate' | 'none';
  /** The certProfile (RFC 9483 §4.1.1), if the URL does not select the profile. */
  readonly profile?: string | undefined;
  /** Whether messages contain messageTime: some upstream CAs require it, others cannot parse it. */
  readonly messageTime: boolean;
  /** Whether the response must have the Content-Type of RFC 9811. */
  readonly contentType: boolean;
}

/** One message of a transaction. */
export interface CmpRequest {
  readonly body: PkiBody;
  /** The messageTime, in milliseconds since 1970. It stays the same when the request is repeated. */
  readonly time: number;
  /** The secret from which identifiers, nonces and salts are derived, so that a repeated request has identical octets. */
  readonly seed: Uint8Array;
  /** The upstream's last senderNonce; undefined in the first message. */
  readonly recipNonce?: Uint8Array | undefined;
  readonly implicitConfirm?: boolean;
  /** The transactionID of the nested device message; derived from the seed if absent. */
  readonly transactionID?: Uint8Array | undefined;
  /** The senderNonce of the nested device message; derived from the seed if absent. */
  readonly senderNonce?: Uint8Array | undefined;
}

const contentType = 'application/pkixcmp';
const octets = 16;

/** Derives 16 octets that cannot be predicted without the seed. */
function derive(seed: Uint8Array, what: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const hmac = createHmac('sha256', seed).update(what).update(Uint8Array.of(0));
  for (const part of parts) hmac.update(part);
  return new Uint8Array(hmac.digest().subarray(0, octets));
}

/** An encoded request, and the values that its response must repeat. */
interface EncodedCmpRequest {
  readonly octets: Uint8Array;
  readonly transactionID: Uint8Array;
  readonly senderNonce: Uint8Array;
}

async function encodeRequest(
  { pvno, recipient, extraCerts, profile, messageTime }: CmpEndpoint,
  protection: Protection,
  { body, time, seed, recipNonce, implicitConfirm = false, ...given }: CmpRequest,
): Promise<EncodedCmpRequest> {
  const { transactionID = derive(seed, 'transaction') } = given;
  const place = recipNonce ?? new Uint8Array(0);
  const { senderNonce = derive(seed, `nonce ${body.type}`, place) } = given;
  const salt = () => derive(seed, `salt ${body.type}`, place);
  const { sender, senderKID, protector, certificates } = identify(protection, salt);
  // A nested message contains its own certProfile.
  const asks = recipNonce === undefined && body.type !== 'nested';
  const header = {
    // RFC 9810 §7: hashAlg in certConf is of version 3.
    pvno: body.type === 'certConf' && body.statuses.some(({ hashAlg }) => hashAlg) ? 3 : pvno,
    sender: { kind: 'directory', value: sender } as const,
    recipient: { kind: 'directory', value: recipient } as const,
    messageTime: messageTime ? time : undefined,
    senderKID,
    transactionID,
    senderNonce,
    recipNonce,
    generalInfo: [
      ...(implicitConfirm ? [typedValue(infoTypes.implicitConfirm, true)] : []),
      ...(asks && profile !== undefined ? [typedValue(infoTypes.certProfile, [profile])] : []),
    ],
  };
  const along = extraCerts === 'none' ? [] : extraCerts === 'chain' ? certificates : certificates.slice(0, 1);
  const message = await buildPkiMessage(header, body, { protector, extraCerts: along });
  return { octets: message, transactionID, senderNonce };
}

interface Identity {
  readonly sender: Name;
  readonly senderKID: Uint8Array | undefined;
  readonly protector: Protector;
  readonly certificates: readonly Uint8Array[];
}

function identify(protection: Protection, salt: () => Uint8Array): Identity {
  if (protection.kind === 'mac') {
    const { reference, secret, parameters } = protection;
    return {
      sender: emptyName,
      senderKID: new TextEncoder().encode(reference),
      protector: macProtection(secret, parameters, salt),
      certificates: [],
    };
  }
  const { certificates, sign } = protection;
  const [own, ...others] = certificates.map(parseCertificate);
  if (!own) throw new Fault('unavailable', 'no certificate to sign requests to the upstream CA');
  const algorithm = defaultSignatureAlgorithm(readPublicKey(own.spki).type);
  // RFC 9483 §3.3: the root is left out, as the receiver must know it already.
  const above = others.filter(({ subject, issuer }) => !sameName(subject, issuer));
  return {
    sender: own.subject,
    senderKID: subjectKeyIdentifierOf(own),
    protector: signatureProtection(algorithm, (data) => sign(algorithm, data)),
    certificates: [own, ...above].map(({ der }) => der),
  };
}

/** Throws unless the upstream protected the message. `within`: the message was nested in another, trusted message. */
type Trust = (message: PkiMessage, within: boolean) => Promise<void>;

/**
 * Sends a request and returns the response, also if a registration authority of the upstream nested it in a message of its
 * own (RFC 9483 §5.2.2). Faults: unavailable, also when the response belongs to another request; malformed; those of `trust`.
 */
export async function sendRequest(
  place: CmpEndpoint,
  protection: Protection,
  request: CmpRequest,
  trust: Trust,
  signal: AbortSignal,
): Promise<PkiMessage> {
  const sealed = await encodeRequest(place, protection, request);
  const reply = await exchange(
    {
      url: new URL(place.url),
      method: 'POST',
      headers: { 'content-type': contentType, accept: contentType },
      body: sealed.octets,
      redirects: false,
    },
    place.tls,
    signal,
  );
  const answer = await verified(read(reply, place), trust);
  const { transactionID, recipNonce, pvno } = answer.header;
  // An attacker may replay the response to another request.
  if (!transactionID || !sameBytes(transactionID, sealed.transactionID))
    throw new Fault('unavailable', 'the upstream CA responded with another transactionID');
  if (!recipNonce || !sameBytes(recipNonce, sealed.senderNonce))
    throw new Fault('unavailable', 'the upstream CA responded with another recipNonce');
  if (pvno !== 2 && pvno !== 3)
    throw new Fault(
      'malformed',
      `the upstream CA responded in version ${pvno} of CMP, which is not supported`,
    );
  return answer;
}

/** Verifies every message of a nesting by itself: the outer protection does not authenticate the inner message. */
async function verified(answer: PkiMessage, trust: Trust, within = false): Promise<PkiMessage> {
  await trust(answer, within);
  if (answer.body.type !== 'nested') return answer;
  const [only, ...more] = answer.body.messages;
  if (!only || more.length > 0)
    throw new Fault('malformed', 'the upstream CA sent several messages in one nested message');
  return verified(parsed(only), trust, true);
}

function parsed(message: Uint8Array): PkiMessage {
  try {
    return parsePkiMessage(message);
  } catch (cause) {
    throw new Fault('malformed', `the response of the upstream CA cannot be parsed${why(cause)}`, { cause });
  }
}

function read(reply: UpstreamReply, place: CmpEndpoint): PkiMessage {
  const { status, headers, body } = reply;
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  const isCmp = type === contentType;
  // RFC 9811 §3.1: a CMP error may be sent with an HTTP error status.
  if (status !== 200 && !(status >= 400 && isCmp)) throw statusFault(reply);
  if (!isCmp && place.contentType)
    throw new Fault('malformed', `the upstream CA did not send a CMP response${shown(type)}`);
  try {
    return parsed(body);
  } catch (error) {
    throw status === 200 ? error : statusFault(reply);
  }
}

const shown = (type: string | undefined): string =>
  type === undefined ? '' : `: ${type.slice(0, 60).replace(/[^\x20-\x7e]/g, '?')}`;

const why = (cause: unknown): string => (cause instanceof Fault ? `: ${cause.detail.slice(0, 100)}` : '');

const mostRetryAfter = 3600;

/** Returns the Fault for an HTTP status without a CMP message. */
function statusFault({ status, headers }: UpstreamReply): Fault {
  const said = `the upstream CA responded with status ${status}`;
  if (status >= 300 && status < 400) return new Fault('unavailable', `${said}: redirects are not followed`);
  if (status === 401 || status === 404 || status === 405 || status === 415)
    return new Fault('unavailable', `${said}: no CMP service at the configured URL`);
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    const wish = /^\d{1,9}$/.test(headers['retry-after'] ?? '') ? Number(headers['retry-after']) : 0;
    return new Fault('unavailable', said, { retryAfter: Math.min(mostRetryAfter, wish) });
  }
  if (status >= 400) return new Fault('forbidden', said);
  return new Fault('malformed', said);
}
