import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import type { PkiHeader } from '#adapters/wire/cmp/header.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import { typedValue } from '#adapters/wire/cmp/typed-value.ts';
import { der } from '#core/der/builder.ts';
import { buildCrl } from '#core/x509/crl.ts';
import { parseCertTemplate } from '#core/x509/crmf.ts';
import { buildCertReqMsg, buildCertRequest, buildCertTemplate } from '#core/x509/crmf-builder.ts';
import type { Extension } from '#core/x509/extension.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { testCa } from '#tests/fixtures/certificates.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { vector } from './vectors.ts';

const ca = testCa('p-256');
export const certificate = ca.certificate.der;
export const issuer = parseDistinguishedName('CN=ca');
const { spki } = testKey('p-256').publicKey;
const sha256 = der((b) => b.sequence((s) => s.oid(oid.sha256)));
const time = Date.UTC(2026, 6, 1, 12, 30, 15);

export const header: PkiHeader = {
  pvno: 2,
  sender: parseGeneralName('DirName:CN=device'),
  recipient: parseGeneralName('DirName:CN=ca'),
  messageTime: time,
  senderKID: Uint8Array.of(1),
  recipKID: Uint8Array.of(2),
  transactionID: Uint8Array.of(3),
  senderNonce: Uint8Array.of(4),
  recipNonce: Uint8Array.of(5),
  freeText: ['läuft', 'works'],
  generalInfo: [typedValue(infoTypes.implicitConfirm, true), { type: '1.2.3.4' }],
};

const reason: Extension = {
  oid: oid.reasonCode,
  critical: false,
  value: der((b) => b.integer(1, 0x0a)),
};
const template = buildCertTemplate({
  issuer,
  validity: { notBefore: time, notAfter: undefined },
  subject: parseDistinguishedName('CN=device'),
  spki,
  extensions: [],
});
const request = buildCertReqMsg(buildCertRequest(0, template), { kind: 'raVerified' });
const certDetails = parseCertTemplate(buildCertTemplate({ serial: Uint8Array.of(0, 0x80), issuer }));
const certId = { issuer: { kind: 'directory', value: issuer } as const, serial: Uint8Array.of(7) };
const rejection = {
  status: 'rejection',
  statusString: ['no'],
  failInfo: ['badRequest', 'systemFailure', 'duplicateCertReq'],
} as const;
const accepted = { status: 'accepted' } as const;
const unsignedCrl = await buildCrl({
  signatureAlgorithm: ca.algorithm,
  issuer: ca.name,
  thisUpdate: time,
  nextUpdate: time,
  number: 1n,
  authorityKeyIdentifier: Uint8Array.of(1),
  revoked: [],
});
const crl = unsignedCrl.signed(ca.key.sign(ca.algorithm, unsignedCrl.tbs));
const recipientInfo = der((b) =>
  b.explicit(3, (pwri) => {
    pwri
      .integer(0)
      .sequence((s) => s.oid('1.2.840.113549.1.9.16.3.9'))
      .octetString(Uint8Array.of(1));
  }),
);
const envelopedData = der((b) =>
  b.sequence((s) => {
    s.integer(3).setOf([recipientInfo]);
    s.sequence((content) =>
      content.oid('1.2.840.113549.1.7.1').raw(sha256).octetString(Uint8Array.of(1), 0x80),
    );
  }),
);
const encryptedValue = der((b) => b.sequence((s) => s.bitString(Uint8Array.of(1))));
const publicationInfo = der((b) => b.sequence((s) => s.integer(0)));

/** One body of every kind in RFC 4210, with every field. */
export const bodiesOf4210: readonly PkiBody[] = [
  { type: 'ir', requests: [request, request] },
  {
    type: 'ip',
    caPubs: [certificate],
    responses: [
      {
        certReqId: 0,
        status: { status: 'grantedWithMods', statusString: ['changed'] },
        certifiedKeyPair: { certificate, publicationInfo },
        rspInfo: Uint8Array.of(9),
      },
      { certReqId: 1, status: rejection },
      {
        certReqId: 2,
        status: accepted,
        certifiedKeyPair: {
          certificate: { kind: 'encryptedValue', der: encryptedValue },
          privateKey: { kind: 'encryptedValue', der: encryptedValue },
        },
      },
    ],
  },
  { type: 'cr', requests: [request] },
  { type: 'cp', caPubs: [], responses: [{ certReqId: -1, status: { status: 'waiting' } }] },
  { type: 'p10cr', request: vector('new.csr.der') },
  {
    type: 'popdecc',
    challenges: [
      { owf: sha256, witness: Uint8Array.of(1), challenge: Uint8Array.of(2) },
      { witness: Uint8Array.of(), challenge: Uint8Array.of() },
    ],
  },
  { type: 'popdecr', responses: [0n, -1n, 2n ** 64n] },
  { type: 'kur', requests: [request] },
  {
    type: 'kup',
    caPubs: [],
    responses: [{ certReqId: 2 ** 31 - 1, status: { status: 'keyUpdateWarning' } }],
  },
  { type: 'krr', requests: [request] },
  {
    type: 'krp',
    status: accepted,
    newSigCert: certificate,
    caCerts: [certificate],
    keyPairHist: [{ certificate }],
  },
  {
    type: 'rr',
    requests: [
      { certDetails, crlEntryDetails: [reason] },
      { certDetails, crlEntryDetails: [] },
    ],
  },
  { type: 'rp', statuses: [{ status: 'revocationWarning' }], revCerts: [certId], crls: [crl] },
  { type: 'ccr', requests: [request] },
  { type: 'ccp', caPubs: [certificate, certificate], responses: [] },
  {
    type: 'ckuann',
    version: 2,
    update: { oldWithNew: certificate, newWithOld: certificate, newWithNew: certificate },
  },
  { type: 'cann', certificate },
  {
    type: 'rann',
    status: 'revocationNotification',
    certId,
    willBeRevokedAt: time,
    badSinceDate: time - 1000,
    crlDetails: [reason],
  },
  { type: 'crlann', crls: [crl] },
  { type: 'pkiConf' },
  { type: 'nested', messages: [vector('ir-mac-1.req.der'), vector('kur-signed-1.req.der')] },
  { type: 'genm', infos: [{ type: infoTypes.caCerts.oid }] },
  { type: 'genp', infos: [typedValue(infoTypes.caCerts, [certificate])] },
  { type: 'error', status: rejection, errorCode: 0x1d00009en, errorDetails: ['CMP routines'] },
  {
    type: 'certConf',
    statuses: [
      { certHash: Uint8Array.of(1), certReqId: 0 },
      { certHash: Uint8Array.of(2), certReqId: -1, statusInfo: rejection },
    ],
  },
  { type: 'pollReq', certReqIds: [0, -1] },
  {
    type: 'pollRep',
    polls: [
      { certReqId: 0, checkAfter: 3600, reason: ['an operator has to agree'] },
      { certReqId: -1, checkAfter: 0 },
    ],
  },
];

/** Bodies and values that RFC 9480 and RFC 9810 added. */
export const bodiesOf9810: readonly PkiBody[] = [
  {
    type: 'kup',
    caPubs: [],
    responses: [
      {
        certReqId: 0,
        status: accepted,
        certifiedKeyPair: { certificate, privateKey: { kind: 'envelopedData', der: envelopedData } },
      },
      {
        certReqId: 1,
        status: accepted,
        certifiedKeyPair: { certificate: { kind: 'envelopedData', der: envelopedData } },
      },
    ],
  },
  {
    type: 'popdecc',
    challenges: [{ witness: Uint8Array.of(), challenge: Uint8Array.of(), encryptedRand: envelopedData }],
  },
  { type: 'ckuann', version: 3, update: { newWithNew: certificate, oldWithNew: certificate } },
  { type: 'certConf', statuses: [{ certHash: Uint8Array.of(2), certReqId: 0, hashAlg: sha256 }] },
];
