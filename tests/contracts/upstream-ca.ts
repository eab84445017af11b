import { defaultSignatureAlgorithm } from '#core/x509/algorithm.ts';
import {
  assembleCertificate,
  buildTbsCertificate,
  type CertificateTemplate,
} from '#core/x509/certificate.ts';
import {
  authorityKeyIdentifierExtension,
  subjectKeyIdentifierExtension,
} from '#core/x509/extensions/identity.ts';
import {
  basicConstraintsExtension,
  extendedKeyUsageExtension,
  keyUsageExtension,
} from '#core/x509/extensions/usage.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { keyIdentifier } from '#core/x509/public-key.ts';
import { verifyPkcs10 } from '#core/x509/request.ts';
import { testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { pem } from '#tests/fixtures/openssl.ts';

/** The other end of an issuer under test, for any protocol: a CA that certifies every request. */
interface UpstreamCa {
  /** The time of its certificates, in ms since 1970. It does not advance. */
  now(): number;
  /** From the issuing CA to the root (DER). */
  readonly chain: readonly Uint8Array[];
  /** The same in PEM. */
  readonly pem: string;
  /** Returns a certificate (DER) for a PKCS#10 request (DER). Throws Faults: malformed, badProof. */
  certify(request: Uint8Array): Uint8Array;
}

const day = 24 * 3_600_000;

export function upstreamCa(): UpstreamCa {
  const { now } = testClock();
  const root = { name: parseDistinguishedName('CN=Upstream Root'), key: testKey('p-256', 'root') };
  const issuing = { name: parseDistinguishedName('CN=Upstream CA'), key: testKey('p-256', 'issuing') };
  let serial = 0;

  type Subject = Pick<CertificateTemplate, 'subject' | 'extensions'> & {
    readonly publicKey: (typeof root.key)['publicKey'];
    readonly until: number;
  };
  function sign(by: typeof root, { subject, publicKey, extensions, until }: Subject): Uint8Array {
    const signatureAlgorithm = defaultSignatureAlgorithm(by.key.publicKey.type);
    const tbs = buildTbsCertificate({
      serial: Uint8Array.of(1, ++serial >> 8, serial),
      signatureAlgorithm,
      issuer: by.name,
      subject,
      notBefore: now() - day,
      notAfter: now() + until,
      spki: publicKey.spki,
      extensions: [
        ...extensions,
        subjectKeyIdentifierExtension(keyIdentifier(publicKey)),
        authorityKeyIdentifierExtension(keyIdentifier(by.key.publicKey)),
      ],
    });
    return assembleCertificate(tbs, signatureAlgorithm, by.key.sign(signatureAlgorithm, tbs));
  }

  const ca = ({ name: subject, key: { publicKey } }: typeof root): Uint8Array =>
    sign(root, {
      subject,
      publicKey,
      extensions: [basicConstraintsExtension({ ca: true }), keyUsageExtension(['keyCertSign', 'cRLSign'])],
      until: 3650 * day,
    });
  const chain = [ca(issuing), ca(root)];
  return {
    now,
    chain,
    pem: chain.map((der) => pem('CERTIFICATE', der)).join(''),
    certify(request) {
      const { subject, publicKey, extensions } = verifyPkcs10(request);
      const names = extensions.filter((one) => one.oid === oid.subjectAltName);
      return sign(issuing, {
        subject,
        publicKey,
        extensions: [
          basicConstraintsExtension({ ca: false }),
          keyUsageExtension(['digitalSignature']),
          extendedKeyUsageExtension([oid.clientAuth]),
          ...names,
        ],
        until: 300 * day,
      });
    },
  };
}
