import { der } from '#core/der/builder.ts';
import { type DerReader, readDer } from '#core/der/reader.ts';
import { contextConstructed, tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';

const signedData = '1.2.840.113549.1.7.2';
const data = '1.2.840.113549.1.7.1';
const mostCertificates = 10_000;

/** The beginning of every certs-only SignedData: version 1, no digest algorithms, no content. */
const preamble = der((b) =>
  b
    .integer(1)
    .set(() => {})
    .sequence((content) => content.oid(data)),
);
const noSignerInfos = der((b) => b.set(() => {}));

/**
 * Builds a certs-only SignedData (DER) from certificates (DER) (RFC 5652 §5.1, RFC 5751 §3.2.2, RFC 7030 §4.1.3 and
 * §4.2.3). Keeps their order, issuing CA first, for clients that do not build paths. The SET OF is therefore not
 * sorted; CMS requires DER only for signed parts.
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
 * Returns the certificates of a SignedData (DER) in their order, as undecoded views (each a SEQUENCE). Does not check
 * signatures and ignores attribute certificates and other formats. Faults: malformed.
 */
export function readCertificates(pkcs7: Uint8Array): Uint8Array[] {
  if (pkcs7[0] === tag.sequence && pkcs7[1] === 0x80) {
    throw new Fault('malformed', 'PKCS #7: BER with indefinite lengths is not supported', {
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

/** Reads SignedData (RFC 5652 §5.1). */
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

/**
 * Reads CertificateSet (RFC 5652 §10.2.2). Ignores extendedCertificate [0], v1AttrCert [1], v2AttrCert [2] and other
 * [3].
 */
function readCertificateSet(set: DerReader): Uint8Array[] {
  const certificates: Uint8Array[] = [];
  while (!set.empty) {
    const choice = set.peek();
    if (choice !== tag.sequence && (choice < contextConstructed(0) || choice > contextConstructed(3))) {
      throw new Fault('malformed', 'PKCS #7: an element of the certificates is not a certificate');
    }
    const element = set.element();
    if (choice === tag.sequence) certificates.push(element);
    if (certificates.length > mostCertificates)
      throw new Fault('malformed', 'PKCS #7: too many certificates');
  }
  return certificates;
}
