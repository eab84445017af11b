import { der } from '../der/builder.ts';
import { type SignatureAlgorithm, signatureAlgorithmIdentifier } from './algorithm.ts';
import { addExtensions, type Extension } from './extension.ts';
import type { Name } from './name.ts';
import { oid } from './oids.ts';

/** Builds a CertificationRequestInfo (DER, RFC 2986 §4.1), which the subject's key has to sign. */
export function buildCertificationRequestInfo(
  subject: Name,
  spki: Uint8Array,
  extensions: readonly Extension[],
): Uint8Array {
  return der((b) =>
    b.sequence((info) => {
      info.integer(0).raw(subject.der).raw(spki);
      info.explicit(0, (attributes) => {
        if (extensions.length === 0) return;
        attributes.sequence((attribute) => {
          attribute.oid(oid.extensionRequest).set((values) => addExtensions(values, extensions));
        });
      });
    }),
  );
}

/** Builds a CertificationRequest (DER, RFC 2986 §4.2). */
export function assembleCertificationRequest(
  info: Uint8Array,
  algorithm: SignatureAlgorithm,
  signature: Uint8Array,
): Uint8Array {
  return der((b) =>
    b.sequence((r) => r.raw(info).raw(signatureAlgorithmIdentifier(algorithm)).bitString(signature)),
  );
}
