import { der } from '#core/der/builder.ts';
import { type DerReader, readDer } from '#core/der/reader.ts';
import { contextConstructed, tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';

const signedData = '1.2.840.113549.1.7.2';
const data = '1.2.840.113549.1.7.1';
const mostCertificates = 10_000;

/** What every certs-only SignedData begins with: version 1, no digest algorithms, no content. */
const preamble = der((b) =>
  b
    .integer(1)
    .set(() => {})
    .sequence((content) => content.oid(data)),
);
const noSignerInfos = der((b) => b.set(() => {}));

/**
 * The degenerate SignedData that carries certificates alone (RFC 5652 §5.1, RFC 5751 §3.2.2, RFC 7030 §4.1.3 and
 * §4.2.3), DER certificates in, DER out. Their order is kept, issuing CA first, as clients that do not build
 * paths expect: only signed parts of CMS have to be DER, so the SET OF is not sorted.
 */
export function buildCertsOnly(certificates: readonly Uint8Array[]): Uint8Array {
  return der((b) => {
    const contentInfo = b.begin(tag.sequence);
    b.oid(signedData);
    const content = b.begin(contextConstructed(0));
    const body = b.begin(tag.sequence);
    b.raw(preamble);
    const set = b.begin(contextConstructed(0));
    for (const certificate of certificates) b.raw(certificate);
    b.end(set).raw(noSignerInfos).end(body).end(content).end(contentInfo);
  });
}

/**
 * The certificates of a SignedData in the order they stand there, certs-only or signed (signatures are not looked
 * at); attribute certificates and other formats are left out. DER in; DER out, as views into it, each a
 * SEQUENCE but not looked into. Faults: malformed.
 */
export function readCertificates(pkcs7: Uint8Array): Uint8Array[] {
  if (pkcs7[0] === tag.sequence && pkcs7[1] === 0x80) {
    throw new Fault('malformed', 'PKCS #7: BER with indefinite lengths is not read', {
      hint: 'convert it to DER or PEM',
    });
  }
  return readDer(pkcs7, (reader) => {
    const contentInfo = reader.sequence();
    if (contentInfo.oid() !== signedData) throw new Fault('malformed', 'PKCS #7: not SignedData');
    const explicit = contentInfo.read(contextConstructed(0));
    contentInfo.finish();
    const body = explicit.sequence();
    explicit.finish();
    return readSignedData(body);
  });
}

/** RFC 5652 §5.1. */
function readSignedData(body: DerReader): Uint8Array[] {
  body.smallInteger(5);
  body.set();
  body.sequence().oid();
  const set = body.optional(contextConstructed(0));
  const certificates = set ? readCertificateSet(set) : [];
  body.optional(contextConstructed(1));
  body.set();
  body.finish();
  return certificates;
}

/** RFC 5652 §10.2.2: extendedCertificate [0], v1AttrCert [1], v2AttrCert [2] and other [3] are passed over. */
function readCertificateSet(set: DerReader): Uint8Array[] {
  const certificates: Uint8Array[] = [];
  while (!set.empty) {
    const choice = set.peek();
    if (choice !== tag.sequence && (choice < contextConstructed(0) || choice > contextConstructed(3))) {
      throw new Fault('malformed', 'PKCS #7: not a certificate');
    }
    const element = set.element();
    if (choice === tag.sequence) certificates.push(element);
    if (certificates.length > mostCertificates)
      throw new Fault('malformed', 'PKCS #7: too many certificates');
  }
  return certificates;
}
