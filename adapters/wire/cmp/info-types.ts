import type { DerBuilder } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';
import { contextConstructed } from '#core/der/tag.ts';
import { type CertTemplate, parseCertTemplate } from '#core/x509/crmf.ts';
import { addGeneralNames, type GeneralName, readGeneralNames } from '#core/x509/general-name.ts';
import { addCaKeyUpdate, addRootCaKeyUpdate, readCaKeyUpdate, readRootCaKeyUpdate } from './ca-key-update.ts';
import { addEncryptedKey, readEncryptedKey } from './encrypted-key.ts';
import { addSequenceOf, readEncoded, readSequenceOf } from './sequence-of.ts';
import {
  addTypedValue,
  encoded,
  listOf,
  readTypedValue,
  type TypedValue,
  text,
  type ValueKind,
} from './typed-value.ts';

/** CertReqTemplateContent (RFC 9810 §5.3.19.16): the template that a CA asks its requesters to fill in. */
interface CertReqTemplate {
  readonly template: CertTemplate;
  /** `algId` and `rsaKeyLen`, see `controlTypes`. */
  readonly keySpec: readonly TypedValue[];
}

/**
 * CRLSource (RFC 9810 §5.3.19.17): a distribution point by its full or relative name (DER of the RDN), or an issuer.
 */
type CrlSource =
  | { readonly kind: 'distributionPoint' | 'issuer'; readonly names: readonly GeneralName[] }
  | { readonly kind: 'relativeName'; readonly rdn: Uint8Array };

interface CrlStatus {
  readonly source: CrlSource;
  /** Milliseconds since 1970; absent: the requester has no CRL yet. */
  readonly thisUpdate?: number | undefined;
}

const it = (n: number): string => `1.3.6.1.5.5.7.4.${n}`;
const mostCertificates = 64;
const mostCrls = 16;
const mostOthers = 64;

/** The types of InfoTypeAndValue (RFC 9810 §5.1.1, §5.3.19). Certificates, CRLs, algorithms and messages are DER. */
export const infoTypes = {
  caProtEncCert: encoded(it(1)),
  signKeyPairTypes: listOf(encoded(it(2)), mostOthers),
  encKeyPairTypes: listOf(encoded(it(3)), mostOthers),
  preferredSymmAlg: encoded(it(4)),
  caKeyUpdateInfo: { oid: it(5), read: readCaKeyUpdate, add: addCaKeyUpdate },
  currentCrl: encoded(it(6)),
  unsupportedOids: listOf(objectIdentifier(it(7)), mostOthers),
  keyPairParamReq: objectIdentifier(it(10)),
  keyPairParamRep: encoded(it(11)),
  revPassphrase: { oid: it(12), read: readEncryptedKey, add: addEncryptedKey },
  implicitConfirm: { oid: it(13), read: readNull, add: (b: DerBuilder) => void b.null() } as ValueKind<true>,
  /** Milliseconds since 1970. */
  confirmWaitTime: {
    oid: it(14),
    read: (reader: DerReader) => reader.generalizedTime(),
    add: (b: DerBuilder, time: number) => void b.generalizedTime(time),
  },
  origPkiMessage: listOf(encoded(it(15)), mostOthers),
  suppLangTags: listOf(text(it(16)), mostOthers),
  caCerts: listOf(encoded(it(17)), mostCertificates),
  rootCaKeyUpdate: { oid: it(18), read: readRootCaKeyUpdate, add: addRootCaKeyUpdate },
  certReqTemplate: { oid: it(19), read: readCertReqTemplate, add: addCertReqTemplate },
  rootCaCert: encoded(it(20)),
  certProfile: listOf(text(it(21)), mostOthers),
  crlStatusList: listOf({ oid: it(22), read: readCrlStatus, add: addCrlStatus }, mostCrls),
  crls: listOf(encoded(it(23)), mostCrls),
  kemCiphertextInfo: encoded(it(24)),
} as const;

function objectIdentifier(oid: string): ValueKind<string> {
  return { oid, read: (reader) => reader.oid(), add: (b, value) => void b.oid(value) };
}

function readNull(reader: DerReader): true {
  reader.null();
  return true;
}

function readCertReqTemplate(reader: DerReader): CertReqTemplate {
  const content = reader.sequence();
  const template = parseCertTemplate(readEncoded(content));
  const keySpec = content.empty
    ? []
    : readSequenceOf(content, { least: 1, most: mostOthers }, readTypedValue);
  content.finish();
  return { template, keySpec };
}

function addCertReqTemplate(b: DerBuilder, { template, keySpec }: CertReqTemplate): void {
  b.sequence((s) => {
    s.raw(template.der);
    if (keySpec.length > 0) addSequenceOf(s, keySpec, addTypedValue);
  });
}

function readCrlStatus(reader: DerReader): CrlStatus {
  const status = reader.sequence();
  const source = readCrlSource(status);
  const thisUpdate = status.empty ? undefined : status.time();
  status.finish();
  return { source, ...(thisUpdate !== undefined && { thisUpdate }) };
}

function readCrlSource(status: DerReader): CrlSource {
  const issuer = status.optional(contextConstructed(1));
  const choice = issuer ?? status.read(contextConstructed(0));
  const source = issuer
    ? ({ kind: 'issuer', names: readGeneralNames(issuer) } as const)
    : readDistributionPoint(choice);
  choice.finish();
  return source;
}

/** Reads DistributionPointName (RFC 5280 §4.2.1.13), a CHOICE with implicit tags. */
function readDistributionPoint(reader: DerReader): CrlSource {
  if (reader.peek() === contextConstructed(0)) {
    return { kind: 'distributionPoint', names: readGeneralNames(reader, contextConstructed(0)) };
  }
  return { kind: 'relativeName', rdn: reader.contents(contextConstructed(1)) };
}

function addCrlStatus(b: DerBuilder, { source, thisUpdate }: CrlStatus): void {
  b.sequence((s) => {
    if (source.kind === 'issuer') s.explicit(1, (choice) => addGeneralNames(choice, source.names));
    else if (source.kind === 'relativeName') s.explicit(0, (choice) => choice.explicit(1, source.rdn));
    else s.explicit(0, (choice) => addGeneralNames(choice, source.names, contextConstructed(0)));
    if (thisUpdate !== undefined) s.time(thisUpdate);
  });
}
