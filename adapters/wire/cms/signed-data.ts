import { hash } from 'node:crypto';
import { der } from '#core/der/builder.ts';
import { readDer } from '#core/der/reader.ts';
import { context, contextConstructed, tag } from '#core/der/tag.ts';
import {
  type SignatureAlgorithm,
  signatureAlgorithmIdentifier,
  signatureHash,
} from '#core/x509/algorithm.ts';
import { oid } from '#core/x509/oids.ts';

/** The signer and its key. */
export interface Signer {
  /** Its certificate followed by those of the CAs above it (DER). */
  readonly certificates: readonly Uint8Array[];
  /** The subject key identifier of its certificate. */
  readonly keyIdentifier: Uint8Array;
  readonly algorithm: SignatureAlgorithm;
  /** Returns the signature as encoded in X.509 (ECDSA: DER). */
  sign(data: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

const contentTypeAttribute = '1.2.840.113549.1.9.3';
const messageDigestAttribute = '1.2.840.113549.1.9.4';

/**
 * Builds SignedData (DER, RFC 5652 §5.1, profiled by RFC 9483 §4.1.6) that encapsulates the content, without
 * ContentInfo. Keeps the order of the certificates.
 */
export async function buildSignedData(
  contentType: string,
  content: Uint8Array,
  signer: Signer,
): Promise<Uint8Array> {
  // RFC 8419 §3.1, RFC 9882 §3.3: SHA-512 with schemes that do their own hashing.
  const hashName = signatureHash(signer.algorithm) ?? 'sha512';
  const digestAlgorithm = der((b) => b.sequence((s) => s.oid(oid[hashName])));
  const attributes = [
    attribute(
      contentTypeAttribute,
      der((b) => b.oid(contentType)),
    ),
    attribute(
      messageDigestAttribute,
      der((b) => b.octetString(hash(hashName, content, 'buffer'))),
    ),
  ];
  const signedAttributes = der((b) => b.setOf(attributes));
  const signature = await signer.sign(signedAttributes);
  const signerInfo = der((b) =>
    b.sequence((info) => {
      info.integer(3).octetString(signer.keyIdentifier, context(0)).raw(digestAlgorithm);
      // The signature covers the attributes with the tag SET; the message contains them with [0] (RFC 5652 §5.4).
      info.add(
        contextConstructed(0),
        readDer(signedAttributes, (r) => r.contents(tag.set)),
      );
      info.raw(signatureAlgorithmIdentifier(signer.algorithm)).octetString(signature);
    }),
  );
  return der((b) =>
    b.sequence((signedData) => {
      signedData.integer(3).set(digestAlgorithm);
      signedData.sequence((inner) => inner.oid(contentType).explicit(0, (e) => e.octetString(content)));
      signedData.add(contextConstructed(0), (list) => {
        for (const certificate of signer.certificates) list.raw(certificate);
      });
      signedData.set(signerInfo);
    }),
  );
}

const attribute = (type: string, value: Uint8Array): Uint8Array =>
  der((b) => b.sequence((s) => s.oid(type).set(value)));
