import type { DerBuilder } from '#core/der/builder.ts';
import { type DerReader, readDer } from '#core/der/reader.ts';
import { contextConstructed, tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { type Announcement, addAnnouncement, readAnnouncement } from './announcement.ts';
import {
  addCertifiedKeyPair,
  addCertResponse,
  type CertifiedKeyPair,
  type CertResponse,
  readCertifiedKeyPair,
  readCertResponse,
} from './cert-response.ts';
import { addChallenge, type Challenge, readChallenge } from './challenge.ts';
import {
  addCertStatus,
  addPoll,
  type CertStatus,
  type Poll,
  readCertStatus,
  readPoll,
  readPollRequest,
} from './confirmation.ts';
import {
  addCertId,
  addRevDetails,
  type CertId,
  type RevDetails,
  readCertId,
  readRevDetails,
} from './revocation.ts';
import { addEncoded, addSequenceOf, readEncoded, readExplicit, readSequenceOf } from './sequence-of.ts';
import {
  addFreeText,
  addPkiStatusInfo,
  type PkiStatusInfo,
  readFreeText,
  readPkiStatusInfo,
} from './status.ts';
import { addTypedValue, readTypedValue, type TypedValue } from './typed-value.ts';

/** The alternatives of PKIBody (RFC 9810 §5.1.2) in the order of their tags. */
export const bodyTypes = [
  'ir',
  'ip',
  'cr',
  'cp',
  'p10cr',
  'popdecc',
  'popdecr',
  'kur',
  'kup',
  'krr',
  'krp',
  'rr',
  'rp',
  'ccr',
  'ccp',
  'ckuann',
  'cann',
  'rann',
  'crlann',
  'pkiConf',
  'nested',
  'genm',
  'genp',
  'error',
  'certConf',
  'pollReq',
  'pollRep',
] as const;

export type BodyType = (typeof bodyTypes)[number];

/** PKIBody. Certificates, CRLs, requests and whole messages are left undecoded, as DER. */
export type PkiBody =
  | {
      readonly type: 'ir' | 'cr' | 'kur' | 'krr' | 'ccr';
      /** CertReqMsg values, see `parseCertReqMsg`. */
      readonly requests: readonly Uint8Array[];
    }
  | {
      readonly type: 'ip' | 'cp' | 'kup' | 'ccp';
      readonly caPubs: readonly Uint8Array[];
      readonly responses: readonly CertResponse[];
    }
  | { readonly type: 'p10cr'; readonly request: Uint8Array }
  | { readonly type: 'popdecc'; readonly challenges: readonly Challenge[] }
  | { readonly type: 'popdecr'; readonly responses: readonly bigint[] }
  | {
      readonly type: 'krp';
      readonly status: PkiStatusInfo;
      readonly newSigCert?: Uint8Array | undefined;
      readonly caCerts: readonly Uint8Array[];
      readonly keyPairHist: readonly CertifiedKeyPair[];
    }
  | { readonly type: 'rr'; readonly requests: readonly RevDetails[] }
  | {
      readonly type: 'rp';
      readonly statuses: readonly PkiStatusInfo[];
      readonly revCerts: readonly CertId[];
      readonly crls: readonly Uint8Array[];
    }
  | Announcement
  | { readonly type: 'pkiConf' }
  /** PKIMessage values, see `parsePkiMessage`. */
  | { readonly type: 'nested'; readonly messages: readonly Uint8Array[] }
  | {
      readonly type: 'genm' | 'genp' /** For `findValue` with `infoTypes`. */;
      readonly infos: readonly TypedValue[];
    }
  | {
      readonly type: 'error';
      readonly status: PkiStatusInfo;
      readonly errorCode?: bigint | undefined;
      readonly errorDetails?: readonly string[] | undefined;
    }
  /** An empty list rejects every certificate (RFC 9810 §5.3.18). */
  | { readonly type: 'certConf'; readonly statuses: readonly CertStatus[] }
  | { readonly type: 'pollReq'; readonly certReqIds: readonly number[] }
  | { readonly type: 'pollRep'; readonly polls: readonly Poll[] };

/** The number of requests or responses in one message. RFC 9483 allows one of each. */
const few = { least: 1, most: 16 } as const;
const fewOrNone = { least: 0, most: 16 } as const;
const chain = { least: 1, most: 32 } as const;
const infos = { least: 0, most: 64 } as const;
const mostNesting = 4;

/** Returns the type of an encoded PKIBody by its tag, without decoding it. Faults: malformed. */
export function bodyTypeOf(body: Uint8Array): BodyType {
  const type = bodyTypes.find((_, n) => contextConstructed(n) === body[0]);
  if (!type) throw new Fault('malformed', 'CMP: unknown body type');
  return type;
}

/** Decodes a PKIBody (DER). Faults: malformed. */
export function parsePkiBody(body: Uint8Array): PkiBody {
  const type = bodyTypeOf(body);
  return readDer(body, (reader) => readExplicit(reader, body[0]!, (content) => readContent(type, content))!);
}

function readContent(type: BodyType, content: DerReader): PkiBody {
  switch (type) {
    case 'ir':
    case 'cr':
    case 'kur':
    case 'krr':
    case 'ccr':
      return { type, requests: readSequenceOf(content, few, readEncoded) };
    case 'ip':
    case 'cp':
    case 'kup':
    case 'ccp':
      return { type, ...readCertRepMessage(content.sequence()) };
    case 'p10cr':
      return { type, request: readEncoded(content) };
    case 'popdecc':
      return { type, challenges: readSequenceOf(content, fewOrNone, readChallenge) };
    case 'popdecr':
      return { type, responses: readSequenceOf(content, fewOrNone, readShortInteger) };
    case 'krp':
      return readKeyRecovery(content.sequence());
    case 'rr':
      return { type, requests: readSequenceOf(content, fewOrNone, readRevDetails) };
    case 'rp':
      return readRevocationReply(content.sequence());
    case 'ckuann':
    case 'cann':
    case 'rann':
    case 'crlann':
      return readAnnouncement(type, content);
    case 'pkiConf':
      content.null();
      return { type };
    case 'nested':
      return { type, messages: readNested(content, 1) };
    case 'genm':
    case 'genp':
      return { type, infos: readSequenceOf(content, infos, readTypedValue) };
    case 'error':
      return readError(content.sequence());
    case 'certConf':
      return { type, statuses: readSequenceOf(content, fewOrNone, readCertStatus) };
    case 'pollReq':
      return { type, certReqIds: readSequenceOf(content, fewOrNone, readPollRequest) };
    case 'pollRep':
      return { type, polls: readSequenceOf(content, fewOrNone, readPoll) };
  }
}

function readCertRepMessage(message: DerReader): { caPubs: Uint8Array[]; responses: CertResponse[] } {
  const caPubs = readExplicit(message, contextConstructed(1), (r) => readSequenceOf(r, chain, readEncoded));
  const responses = readSequenceOf(message, fewOrNone, readCertResponse);
  message.finish();
  return { caPubs: caPubs ?? [], responses };
}

/** Reads an INTEGER of at most 128 bits; longer ones have no use. */
function readShortInteger(reader: DerReader): bigint {
  const encoded = reader.element(tag.integer);
  if (encoded.length > 18) throw new Fault('malformed', 'CMP: INTEGER too long');
  return readDer(encoded, (r) => r.integer());
}

function readKeyRecovery(content: DerReader): PkiBody {
  const status = readPkiStatusInfo(content);
  const newSigCert = readExplicit(content, contextConstructed(0), readEncoded);
  const caCerts = readExplicit(content, contextConstructed(1), (r) => readSequenceOf(r, chain, readEncoded));
  const keyPairHist = readExplicit(content, contextConstructed(2), (r) =>
    readSequenceOf(r, few, readCertifiedKeyPair),
  );
  content.finish();
  return { type: 'krp', status, newSigCert, caCerts: caCerts ?? [], keyPairHist: keyPairHist ?? [] };
}

function readRevocationReply(content: DerReader): PkiBody {
  const statuses = readSequenceOf(content, few, readPkiStatusInfo);
  const revCerts = readExplicit(content, contextConstructed(0), (r) => readSequenceOf(r, few, readCertId));
  const crls = readExplicit(content, contextConstructed(1), (r) => readSequenceOf(r, few, readEncoded));
  content.finish();
  return { type: 'rp', statuses, revCerts: revCerts ?? [], crls: crls ?? [] };
}

/** Reads ErrorMsgContent. */
function readError(content: DerReader): PkiBody {
  const status = readPkiStatusInfo(content);
  const errorCode = content.peek() === tag.integer ? readShortInteger(content) : undefined;
  const errorDetails = content.empty ? undefined : readFreeText(content);
  content.finish();
  return { type: 'error', status, errorCode, errorDetails };
}

/** Reads PKIMessages. The nesting depth is checked here, because callers decode the inner messages recursively. */
function readNested(content: DerReader, depth: number): Uint8Array[] {
  if (depth > mostNesting) throw new Fault('malformed', 'CMP: messages nested too deeply');
  return readSequenceOf(content, few, (messages) => {
    const message = readEncoded(messages);
    readDer(message, (reader) => {
      const fields = reader.sequence();
      readEncoded(fields);
      const body = fields.element();
      if (bodyTypeOf(body) !== 'nested') return;
      readDer(body, (inner) => readExplicit(inner, body[0]!, (r) => readNested(r, depth + 1)));
    });
    return message;
  });
}

/** Adds a PKIBody in canonical DER. */
export function addPkiBody(builder: DerBuilder, body: PkiBody): void {
  builder.explicit(bodyTypes.indexOf(body.type), (content) => addContent(content, body));
}

function addContent(b: DerBuilder, body: PkiBody): void {
  switch (body.type) {
    case 'ir':
    case 'cr':
    case 'kur':
    case 'krr':
    case 'ccr':
      addSequenceOf(b, body.requests, addEncoded);
      break;
    case 'ip':
    case 'cp':
    case 'kup':
    case 'ccp':
      b.sequence((s) => {
        addUnlessEmpty(s, 1, body.caPubs, addEncoded);
        addSequenceOf(s, body.responses, addCertResponse);
      });
      break;
    case 'p10cr':
      addEncoded(b, body.request);
      break;
    case 'popdecc':
      addSequenceOf(b, body.challenges, addChallenge);
      break;
    case 'popdecr':
      addSequenceOf(b, body.responses, addInteger);
      break;
    case 'krp':
      b.sequence((s) => {
        addPkiStatusInfo(s, body.status);
        if (body.newSigCert) s.explicit(0, body.newSigCert);
        addUnlessEmpty(s, 1, body.caCerts, addEncoded);
        addUnlessEmpty(s, 2, body.keyPairHist, addCertifiedKeyPair);
      });
      break;
    case 'rr':
      addSequenceOf(b, body.requests, addRevDetails);
      break;
    case 'rp':
      b.sequence((s) => {
        addSequenceOf(s, body.statuses, addPkiStatusInfo);
        addUnlessEmpty(s, 0, body.revCerts, addCertId);
        addUnlessEmpty(s, 1, body.crls, addEncoded);
      });
      break;
    case 'ckuann':
    case 'cann':
    case 'rann':
    case 'crlann':
      addAnnouncement(b, body);
      break;
    case 'pkiConf':
      b.null();
      break;
    case 'nested':
      addSequenceOf(b, body.messages, addEncoded);
      break;
    case 'genm':
    case 'genp':
      addSequenceOf(b, body.infos, addTypedValue);
      break;
    case 'error':
      b.sequence((s) => {
        addPkiStatusInfo(s, body.status);
        if (body.errorCode !== undefined) s.integer(body.errorCode);
        if (body.errorDetails?.length) addFreeText(s, body.errorDetails);
      });
      break;
    case 'certConf':
      addSequenceOf(b, body.statuses, addCertStatus);
      break;
    case 'pollReq':
      addSequenceOf(b, body.certReqIds, (list, id) => void list.sequence((s) => s.integer(id)));
      break;
    case 'pollRep':
      addSequenceOf(b, body.polls, addPoll);
  }
}

const addInteger = (b: DerBuilder, value: bigint): void => void b.integer(value);

function addUnlessEmpty<T>(
  b: DerBuilder,
  n: number,
  values: readonly T[],
  add: (builder: DerBuilder, value: T) => void,
): void {
  if (values.length > 0) b.explicit(n, (list) => addSequenceOf(list, values, add));
}
