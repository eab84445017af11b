import { requestForKey } from '../ca/own-credentials.ts';
import { DerReader } from '../der/reader.ts';
import { tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { ProfileRequest } from '../profiles/template.ts';
import type { KeyReference } from '../records/credential.ts';
import { generateKey, keyStoreThat, type NamedKeyStore, withNewKey } from '../signing/key-stores.ts';
import type { KeyType } from '../x509/algorithm.ts';
import { subjectAltNamesOf } from '../x509/certificate.ts';
import { type CertReqMsg, hasPublicKey } from '../x509/crmf.ts';
import type { Extension } from '../x509/extension.ts';
import { commonName, emptyName, type Name } from '../x509/name.ts';
import { oid } from '../x509/oids.ts';
import { readUnproven, type VerifiedRequest } from '../x509/request.ts';
import { onlyRenewals } from './name-change.ts';

/** A request for a key that was made here. The key either leaves with the response or stays in a key store. */
export type MadeKey =
  /** PKCS#8, DER. */
  | { readonly request: VerifiedRequest; readonly privateKey: Uint8Array }
  | { readonly request: VerifiedRequest; readonly key: KeyReference };

/** A request for a key that is made here: the type of the key, and what its certificate is to contain. */
export interface WantedKey {
  readonly subject: Name;
  readonly extensions: readonly Extension[];
  readonly type: KeyType;
  readonly challengePassword?: string | undefined;
}

/** The request as far as a profile can check it before the key is made. */
export const requestWithoutKey = ({ subject, extensions, type }: WantedKey): ProfileRequest => ({
  subject,
  extensions,
  subjectAltNames: subjectAltNamesOf({ extensions }),
  publicKey: { type, spki: none, bytes: none },
});

const none = new Uint8Array(0);

/** A request for a new RSA key names no size. */
const rsaKey = 'rsa-3072';

/** The types of key that are made here, by the OID of their AlgorithmIdentifier, or of the curve for EC. */
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
 * Reads the request for a key from a CRMF template (RFC 9483 §4.1.6), which has no public key, or one without octets whose
 * algorithm names the type. Returns undefined for a template with a key. Faults: malformed, badAlgorithm.
 */
export function wantedKeyOfCrmf({ template, proof }: CertReqMsg): WantedKey | undefined {
  const { subject = emptyName, extensions, spki } = template;
  if (hasPublicKey(template)) return undefined;
  const type = spki ? wantedKeyType(spki) : 'p-256';
  if (proof.kind !== 'none')
    throw new Fault('badProof', 'a request for a server-generated key cannot contain a proof of possession');
  return { subject, extensions, type };
}

const wantedKeyType = (spki: Uint8Array): KeyType =>
  readKeyType(new DerReader(spki).enter(tag.sequence).sequence());

function readKeyType(algorithm: DerReader): KeyType {
  const which = algorithm.oid();
  const type = keyTypes[which === oid.ecPublicKey ? algorithm.oid() : which];
  if (!type) throw new Fault('badAlgorithm', 'server-side key generation does not support this type of key');
  return type;
}

/**
 * Reads the request for a key from a PKCS#10 request (RFC 7030 §4.4.1), whose signature is ignored and whose public key only names
 * the type. A request for further encryption of the private key is rejected (§4.4.1.1, §4.4.1.2), because it is not supported.
 * Faults: malformed, badCsr, badAlgorithm.
 */
export function wantedKeyOfPkcs10(der: Uint8Array): WantedKey {
  const { subject, extensions, spki, challengePassword, attributeTypes } = readUnproven(der);
  if (attributeTypes.includes(oid.changeSubjectName)) throw new Fault('badCsr', onlyRenewals);
  if (encryption.some((type) => attributeTypes.includes(type))) {
    throw new Fault(
      'badCsr',
      'private keys are protected by TLS alone: further encryption of the key is not supported',
    );
  }
  const type = wantedKeyType(spki);
  return { subject, extensions, type, challengePassword };
}

const encryption = [oid.decryptKeyIdentifier, oid.asymmetricDecryptKeyIdentifier];

const noExport = 'no key store is configured that can export keys: add one with plugin = "keyfile"';

/**
 * Makes a key and a request for it, and exports the key: nothing of it stays in the key store. Faults: unavailable where no key
 * store can export keys, badAlgorithm.
 */
export async function withExportedKey<T>(
  context: Pick<Ports, 'keyStores'>,
  wanted: WantedKey,
  use: (made: MadeKey) => Promise<T>,
): Promise<T> {
  const { keys } = keyStoreThat(context, 'export', noExport);
  if (!keys.export) throw new Fault('unavailable', noExport);
  const key = await keys.generate(wanted.type, 'central key generation');
  let made: MadeKey;
  try {
    const request = await requestForKey(keys, key, wanted.subject, wanted.extensions);
    made = { request, privateKey: await keys.export(key.id) };
  } finally {
    await keys.remove(key.id);
  }
  return use(made);
}

/** The key store for keys that are kept until they are collected. Faults: unavailable. */
export const keptKeyStore = (context: Pick<Ports, 'keyStores'>): NamedKeyStore =>
  keyStoreThat(context, 'export', noExport);

/** Makes a key that stays in its key store, and a request for it. If `use` fails, the key is destroyed; see `withNewKey`. */
export async function withKeptKey<T>(
  context: Pick<Ports, 'keyStores'>,
  wanted: WantedKey,
  use: (made: MadeKey) => Promise<T>,
): Promise<T> {
  const keyStore = keptKeyStore(context);
  const label = commonName(wanted.subject) ?? 'central key generation';
  const key = await generateKey(keyStore, wanted.type, label);
  return withNewKey(keyStore, key, async () =>
    use({
      request: await requestForKey(keyStore.keys, key, wanted.subject, wanted.extensions),
      key: { store: keyStore.name, id: key.id },
    }),
  );
}
