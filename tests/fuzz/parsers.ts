import { peerOf, SocketPeer, TrustedProxies } from '#adapters/inbound/http/evidence.ts';
import { contentsOf } from '#adapters/inbound/management/certificate-contents.ts';
import { decodeEntries } from '#adapters/outbound/backup/content.ts';
import { patterns } from '#adapters/outbound/system/patterns.ts';
import { readCertificateFile } from '#adapters/wire/certificate-file.ts';
import { decodeCertificationRequest } from '#adapters/wire/certification-request.ts';
import { readExtraCerts } from '#adapters/wire/cmp/extra-certs.ts';
import { openPkiMessage, parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import { readProtection } from '#adapters/wire/cmp/protection.ts';
import { readCsv } from '#adapters/wire/csv.ts';
import { readPkcs12 } from '#adapters/wire/pkcs12.ts';
import { readPrivateKey } from '#adapters/wire/private-key.ts';
import { readDer } from '#core/der/reader.ts';
import { parseProfileRules } from '#core/profiles/parse.ts';
import { orderCaChain } from '#core/x509/ca-chain.ts';
import { formatSerial, parseCertificate } from '#core/x509/certificate.ts';
import { findRevoked, parseCrl, revokedEntries } from '#core/x509/crl.ts';
import { parseCertReqMsg } from '#core/x509/crmf.ts';
import { formatGeneralName, parseGeneralName, readGeneralNames } from '#core/x509/general-name.ts';
import { lint } from '#core/x509/lint.ts';
import { formatDistinguishedName, parseDistinguishedName, readName, sameName } from '#core/x509/name.ts';
import { validatePath } from '#core/x509/path.ts';
import { readUnproven, verifyCertReqMsg, verifyPkcs10 } from '#core/x509/request.ts';
import { extensionInWords } from '#core/x509/words.ts';
import { testCa } from '#tests/fixtures/certificates.ts';
import { parser, type Target } from './target.ts';

const text = (input: Uint8Array): string => Buffer.from(input).toString('utf8');
const ca = testCa('p-256');
const time = Date.UTC(2026, 5, 1);
const passwordTime = { base: 3000, perKilobyte: 20 };

/** Everything that is done with a certificate of somebody else. */
function useCertificate(input: Uint8Array): void {
  const certificate = parseCertificate(input);
  for (const one of certificate.extensions) extensionInWords(one);
  formatDistinguishedName(certificate.subject);
  formatSerial(certificate.serial);
  sameName(certificate.subject, certificate.issuer);
  validatePath(certificate, { time, intermediates: [ca.certificate], anchors: [ca.certificate] });
  validatePath(certificate, { time, intermediates: [certificate], anchors: [certificate] });
  lint(certificate.tbs, ca.certificate);
  contentsOf(input);
  orderCaChain([certificate, ca.certificate], time);
}

/** Every decoder of octets that others have made. */
export const parsers: readonly Target[] = [
  parser('certificate', ['certificate'], useCertificate),
  parser('crl', ['crl'], (input) => {
    const crl = parseCrl(input);
    for (const { serial } of revokedEntries(crl)) findRevoked(crl, serial);
  }),
  parser('name', ['name'], (input) => {
    const name = readDer(input, readName);
    formatDistinguishedName(name);
    sameName(name, readDer(Uint8Array.from(input), readName));
  }),
  parser('general-names', ['general-names'], (input) => {
    for (const name of readDer(input, (r) => readGeneralNames(r))) formatGeneralName(name);
  }),
  parser('pkcs10', ['pkcs10'], (input) => {
    const csr = decodeCertificationRequest(input);
    readUnproven(csr);
    verifyPkcs10(csr);
  }),
  parser('crmf', ['crmf'], (input) => {
    parseCertReqMsg(input);
    verifyCertReqMsg(input, { raVerified: true });
  }),
  parser('pki-message', ['pki-message'], (input) => {
    const opened = openPkiMessage(input);
    readProtection(opened);
    readExtraCerts(opened);
    parsePkiMessage(input);
  }),
  parser(
    'certificate-file',
    ['certificate-file', 'certificate'],
    (input) => readCertificateFile(input, 'secret'),
    passwordTime,
  ),
  parser('pkcs12', ['pkcs12'], (input) => readPkcs12(input, 'secret'), passwordTime),
  parser('private-key', ['private-key'], (input) => readPrivateKey(input, 'secret'), passwordTime),
  parser('csv', ['csv'], async (input) => Array.fromAsync((await readCsv(input)).rows)),
  parser('backup', ['backup'], async (input) => {
    async function* pieces() {
      yield input;
    }
    await Array.fromAsync(decodeEntries(pieces()));
  }),
  parser('distinguished-name', ['text'], (input) =>
    formatDistinguishedName(parseDistinguishedName(text(input))),
  ),
  parser('general-name', ['text'], (input) => formatGeneralName(parseGeneralName(text(input)))),
  parser('pattern', ['text'], (input) => {
    const matches = patterns.compile(text(input));
    matches('pump-1');
  }),
  parser('profile', ['profile'], (input) => {
    let rules: unknown;
    try {
      rules = JSON.parse(text(input));
    } catch {
      return;
    }
    parseProfileRules(rules, patterns);
  }),
  parser('client-cert', ['client-cert'], (input) => {
    const [leaf, chain, via] = text(input).split('\n');
    const headers = { 'client-cert': leaf, 'client-cert-chain': chain, 'x-forwarded-for': via };
    peerOf(new SocketPeer('127.0.0.1'), headers, new TrustedProxies(['127.0.0.0/8']));
  }),
];
