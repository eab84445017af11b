import { generateKeyPairSync } from 'node:crypto';
import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import { publicKeyOf } from '#adapters/wire/private-key.ts';
import { sameBytes } from '#core/der/bytes.ts';
import { Fault } from '#core/fault.ts';
import { defaultSignatureAlgorithm } from '#core/x509/algorithm.ts';
import { type Certificate, parseCertificate, subjectAltNamesOf } from '#core/x509/certificate.ts';
import { buildCertReqMsg, buildCertRequest, buildCertTemplate } from '#core/x509/crmf-builder.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { sameName } from '#core/x509/name.ts';
import { readPublicKey } from '#core/x509/public-key.ts';
import type { Credential, NewKey } from '../upstream/credential.ts';
import { oldCertId } from './request.ts';
import { signingWith } from './signing-key.ts';

/** Returns a new key and the key update request (CertReqMsg, DER) for a certificate (RFC 9483 §4.1.3). */
export async function newKey(like: Certificate): Promise<NewKey> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = new Uint8Array(privateKey.export({ format: 'der', type: 'pkcs8' }));
  const spki = publicKeyOf(key);
  const names = subjectAltNamesOf(like);
  const extensions = names.length > 0 ? [subjectAltNameExtension(names)] : [];
  const template = buildCertTemplate({ subject: like.subject, spki, extensions });
  const wanted = buildCertRequest(0, template, [oldCertId(like.der)]);
  const algorithm = defaultSignatureAlgorithm(readPublicKey(spki).type);
  const signature = await signingWith(key)(algorithm, wanted);
  return { key, request: buildCertReqMsg(wanted, { kind: 'signature', algorithm, signature }) };
}

export const updateOf = ({ request }: NewKey): PkiBody => ({ type: 'kur', requests: [request] });

const hour = 3_600_000;

/** Returns the credential with the new certificate. Faults: malformed when the certificate does not match the request. */
export function renewed(
  { key }: NewKey,
  { subject }: Certificate,
  certificate: Uint8Array,
  others: readonly Uint8Array[],
  now: number,
): Credential {
  const own = parseCertificate(certificate);
  if (!sameBytes(own.spki, publicKeyOf(key)) || !sameName(own.subject, subject) || own.notAfter <= now + hour)
    throw new Fault('malformed', 'the upstream CA returned a certificate that does not match the request');
  return { key, certificates: [certificate, ...others.filter((one) => !sameBytes(one, certificate))] };
}
