import { DerReader } from '../der/reader.ts';
import { tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { ProfileRequest } from '../profiles/template.ts';
import { keyStoreThat } from '../signing/key-stores.ts';
import { defaultSignatureAlgorithm, type KeyType } from '../x509/algorithm.ts';
import { subjectAltNamesOf } from '../x509/certificate.ts';
import { type CertReqMsg, hasPublicKey } from '../x509/crmf.ts';
import type { Extension } from '../x509/extension.ts';
import { emptyName, type Name } from '../x509/name.ts';
import { oid } from '../x509/oids.ts';
import { readPublicKey } from '../x509/public-key.ts';
import { readUnproven, type VerifiedRequest, verifyPkcs10 } from '../x509/request.ts';
import { assembleCertificationRequest, buildCertificationRequestInfo } from '../x509/request-builder.ts';
import { onlyRenewals } from './name-change.ts';

/** A request for a key that is to be made here, and that key: PKCS#8, DER. */
interface CentralKey {
  readonly request: VerifiedRequest;
  readonly privateKey: Uint8Array;
}

/** What kind of key a request wants to be made for it. */
export interface WantedKey {
  readonly subject: Name;
  readonly extensions: readonly Extension[];
  readonly type: KeyType;
  readonly challengePassword?: string | undefined;
}

/** What a profile can be asked about before there is the key. */
export const unmade = ({ subject, extensions, type }: WantedKey): ProfileRequest => ({
  subject,
  extensions,
  subjectAltNames: subjectAltNamesOf({ extensions }),
  publicKey: { type, spki: none, bytes: none },
});

const none = new Uint8Array(0);

/** RSA keys in a request for a new one say no size. */
const rsaKey = 'rsa-3072';

/** AlgorithmIdentifier's OIDs, with the curve's for EC, of the keys that are made. */
const keyTypes: Readonly<Record<string, KeyType>> = {
  [oid.rsaEncryption]: rsaKey,
  [oid.p256]: 'p-256',
  [oid.p384]: 'p-384',
  [oid.p521]: 'p-521',
  [oid.ed25519]: 'ed25519',
  [oid.mlDsa44]: 'ml-dsa-44',
  [oid.mlDsa65]: 'ml-dsa-65',
  [oid.mlDsa87]: 'ml-dsa-87',
};

/**
 * RFC 9483 §4.1.6: the template has no public key, or one without octets, whose algorithm says what is wanted. Undefined when it
 * has a key. Faults: malformed, badAlgorithm.
 */
export function wantedKey({ template, proof }: CertReqMsg): WantedKey | undefined {
  const { subject = emptyName, extensions, spki } = template;
  if (hasPublicKey(template)) return undefined;
  const type = spki ? wantedKeyType(spki) : 'p-256';
  if (proof.kind !== 'none')
    throw new Fault('badProof', 'nobody can prove to possess a key that is not made yet');
  return { subject, extensions, type };
}

const wantedKeyType = (spki: Uint8Array): KeyType =>
  readKeyType(new DerReader(spki).enter(tag.sequence).sequence());

function readKeyType(algorithm: DerReader): KeyType {
  const which = algorithm.oid();
  const type = keyTypes[which === oid.ecPublicKey ? algorithm.oid() : which];
  if (!type) throw new Fault('badAlgorithm', 'keys of this kind are not made here');
  return type;
}

/**
 * RFC 7030 §4.4.1: a PKCS#10 request whose signature says nothing, and whose key nothing but what kind is wanted. Refused when it asks for
 * the private key to be encrypted beside TLS, which is not done here (§4.4.1.1, §4.4.1.2). Faults: malformed, badCsr, badAlgorithm.
 */
export function wantedInstead(der: Uint8Array): WantedKey {
  const { subject, extensions, spki, challengePassword, attributeTypes } = readUnproven(der);
  if (attributeTypes.includes(oid.changeSubjectName)) throw new Fault('badCsr', onlyRenewals);
  if (encryption.some((type) => attributeTypes.includes(type))) {
    throw new Fault('badCsr', 'private keys are protected by TLS alone, and not encrypted beside it');
  }
  const type = wantedKeyType(spki);
  return { subject, extensions, type, challengePassword };
}

const encryption = [oid.decryptKeyIdentifier, oid.asymmetricDecryptKeyIdentifier];

/**
 * Makes the key and a request for it; of the key nothing stays in the key store. Faults: unavailable where no key store hands
 * keys out, badAlgorithm.
 */
export async function makeKey(context: Pick<Ports, 'keyStores'>, wanted: WantedKey): Promise<CentralKey> {
  const { keys } = keyStoreThat(context, 'export', 'no key store is configured that hands out keys');
  if (!keys.export) throw new Fault('unavailable', 'no key store is configured that hands out keys');
  const key = await keys.generate(wanted.type, 'central key generation');
  try {
    const info = buildCertificationRequestInfo(wanted.subject, key.spki, wanted.extensions);
    const algorithm = defaultSignatureAlgorithm(readPublicKey(key.spki).type);
    const signature = await keys.sign(key.id, algorithm, info);
    const request = verifyPkcs10(assembleCertificationRequest(info, algorithm, signature));
    return { request, privateKey: await keys.export(key.id) };
  } finally {
    await keys.remove(key.id);
  }
}
