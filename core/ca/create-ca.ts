import { audit } from '../audit/record.ts';
import { publicUrls } from '../configuration/ca-lookup.ts';
import type { Configuration, LoadedCa, WithConfiguration } from '../configuration/configuration.ts';
import { readCa } from '../configuration/load-record.ts';
import { hex } from '../der/bytes.ts';
import { Fault, toFault } from '../fault.ts';
import { type IssuanceRequest, internalIssuance, issue } from '../issuance/issue.ts';
import { newCertificate, signed } from '../issuance/new-certificate.ts';
import { prepare } from '../issuance/prepare.ts';
import { newSerial } from '../issuance/serial.ts';
import type { StoredKey } from '../ports/keys.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import { newHandle, type Write } from '../ports/store.ts';
import type { Actor } from '../records/audit-event.ts';
import type { KeyReference } from '../records/credential.ts';
import { keyShortcoming, validityShortcoming } from '../security/demands.ts';
import { guardedKey } from '../signing/guarded-key.ts';
import { localIssuer } from '../signing/issuers.ts';
import { generateKey, keyStoreNamed, type NamedKeyStore, withNewKey } from '../signing/key-stores.ts';
import { commitFor } from '../storage/commit.ts';
import type { KeyType } from '../x509/algorithm.ts';
import { fingerprint, subjectKeyIdentifierOf } from '../x509/certificate.ts';
import type { Extension } from '../x509/extension.ts';
import {
  authorityKeyIdentifierExtension,
  subjectKeyIdentifierExtension,
} from '../x509/extensions/identity.ts';
import {
  authorityInfoAccessExtension,
  crlDistributionPointsExtension,
} from '../x509/extensions/locations.ts';
import { basicConstraintsExtension, keyUsageExtension } from '../x509/extensions/usage.ts';
import { demandUnfactored } from '../x509/factorable-rsa.ts';
import { proven } from '../x509/facts.ts';
import { commonName, type Name } from '../x509/name.ts';
import { keyIdentifier, type PublicKey, readPublicKey } from '../x509/public-key.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'keyStores' | 'ownKeyStores' | 'store'>,
    WithConfiguration,
    WithSettings {}

export interface NewCa {
  readonly uniqueName: string;
  /** One of `issuingCaType`. */
  readonly type: number;
  readonly isActive?: boolean;
  readonly subject: Name;
  /**
   * The key store (its name in the configuration), and the type of key to generate there or the id of an existing key.
   */
  readonly keyStore: string;
  readonly key: { readonly type: KeyType } | { readonly id: string };
  /** Milliseconds; limited to the parent's validity period. */
  readonly lifetime: number;
  /** Absent: no pathLenConstraint. */
  readonly pathLength?: number;
  /** The CA that signs the new one; absent for a root. */
  readonly parent?: LoadedCa;
  /** Further writes for the transaction that records the CA; they refer to it as `recordedCa`. */
  readonly alongside?: (made: MadeCa) => readonly Write[];
}

export interface MadeCa {
  readonly certificate: Uint8Array;
  readonly chain: readonly Uint8Array[];
  readonly key: KeyReference;
}

const hour = 3_600_000;

/**
 * Creates a CA and returns its id. The key is generated first, then the certificate, and both are recorded together: a
 * key without a record is harmless, a record without its key is not. Faults: conflict (the name), malformed with
 * `field`, unavailable.
 */
export async function createCa(context: Dependencies, ca: NewCa, actor: Actor): Promise<number> {
  const keyStore = keyStoreNamed(context, ca.keyStore);
  const configuration = await context.configuration.current();
  demandCaLevel(context, configuration, ca);
  const certify = (key: FoundKey): Promise<number> =>
    ca.parent
      ? certifyBelow(context, configuration, { ...ca, parent: ca.parent }, keyStore, key, actor)
      : certifyRoot(context, configuration, ca, keyStore, key, actor);
  const id =
    'id' in ca.key
      ? await certify(await existingKey(keyStore, ca.key.id))
      : await withNewKey(keyStore, await generateKey(keyStore, ca.key.type, ca.uniqueName), certify);
  context.configuration.expire();
  return id;
}

/** Said before a key is made; once more, of what it has become, when it is prepared. Faults: malformed with `field`. */
function demandCaLevel(
  context: Pick<Ports, 'clock'>,
  { security }: Pick<Configuration, 'security'>,
  { key, lifetime, parent }: NewCa,
): void {
  const notBefore = context.clock.now();
  const notAfter = Math.min(notBefore + lifetime, parent?.certificate.notAfter ?? Number.POSITIVE_INFINITY);
  const refuse = (detail: string | undefined, field: string): void => {
    if (detail !== undefined) throw new Fault('malformed', detail, { field });
  };
  if ('type' in key) refuse(keyShortcoming(security, 'ca', key.type), 'keyType');
  refuse(validityShortcoming(security, { holder: 'ca', notBefore, notAfter }), 'validity');
}

/** A key, and whether it existed before. */
export type FoundKey = StoredKey & Pick<KeyReference, 'found'>;

/** Finds a key in the key store by its id or, in a token, by its label. Faults: malformed with field `keyId`. */
export async function existingKey({ keys, name }: NamedKeyStore, id: string): Promise<FoundKey> {
  try {
    const key = await keys.publicKey(id).then(
      (spki) => ({ id, spki }),
      (error) => {
        if (!keys.find || toFault(error).code !== 'notFound') throw error;
        return keys.find(id);
      },
    );
    return { ...key, found: true };
  } catch (error) {
    const { code, detail } = toFault(error);
    if (code === 'conflict') throw new Fault('malformed', detail, { field: 'keyId', cause: error });
    if (code !== 'notFound') throw error;
    throw new Fault('malformed', `the key store "${name}" has no such key`, { field: 'keyId' });
  }
}

/** Issues the CA certificate in the same way as every other certificate of our own CAs. */
async function certifyBelow(
  context: Dependencies,
  configuration: Configuration,
  ca: NewCa & { readonly parent: LoadedCa },
  keyStore: NamedKeyStore,
  key: FoundKey,
  actor: Actor,
): Promise<number> {
  const { parent } = ca;
  const subjectKey = readPublicKey(key.spki);
  const issued = await issue(context, configuration, {
    ca: parent,
    outcome: outcomeOf(context, ca, subjectKey),
    subjectKey,
    ...internalIssuance,
    actor,
    alongside: (certificate) =>
      caWrites(context, ca, { certificate, chain: parent.chain }, reference(keyStore, key), actor),
  });
  return issued.idOf(recordedCa);
}

/** A root signs its own certificate, so the certificate record refers to the CA recorded in the same commit. */
async function certifyRoot(
  context: Dependencies,
  { security }: Configuration,
  ca: NewCa,
  keyStore: NamedKeyStore,
  key: FoundKey,
  actor: Actor,
): Promise<number> {
  const subjectKey = readPublicKey(key.spki);
  await demandUnfactored(subjectKey);
  const prepared = prepare({
    outcome: outcomeOf(context, ca, subjectKey),
    subjectKey,
    request: undefined,
    serial: newSerial(context.clock, context.entropy),
    issuerName: ca.subject,
    issuerKey: subjectKey.type,
    issuer: undefined,
    security,
    ownNames: undefined,
  });
  const answer = await localIssuer(guardedKey(context, reference(keyStore, key), subjectKey), []).issue({
    prepared,
    operation: 'enrol',
  });
  if (answer.kind !== 'issued') throw new Fault('internal', 'a local issuer does not defer');
  const { certificate } = answer;
  const { template } = prepared;
  const values = newCertificate(
    context.clock.now(),
    recordedCa,
    { ...internalIssuance, inventoryName: commonName(ca.subject) ?? ca.uniqueName },
    template,
    hex(template.serial),
    signed(certificate),
  );
  const writes: readonly Write[] = [
    ...caWrites(context, ca, { certificate, chain: [] }, reference(keyStore, key), actor),
    { op: 'insert', kind: 'certificate', values },
  ];
  return commitFor(context.store, writes, recordedCa);
}

export const reference = ({ name }: NamedKeyStore, { id, found }: FoundKey): KeyReference => ({
  store: name,
  id,
  ...(found && { found }),
});

/** The handle of the CA in the commit that records it. */
export const recordedCa = newHandle('issuing CA');

/**
 * Returns the writes that record a CA and its audit event. Faults: malformed for a CA that could not be loaded again.
 */
export function caWrites(
  context: Pick<Ports, 'clock'>,
  ca: Pick<NewCa, 'uniqueName' | 'type' | 'isActive' | 'subject' | 'alongside'> & {
    readonly issuer?: string;
  },
  { certificate, chain }: Pick<MadeCa, 'certificate' | 'chain'>,
  key: KeyReference | null,
  actor: Actor,
): readonly Write[] {
  const now = context.clock.now();
  const { uniqueName, type, isActive = true, issuer = null } = ca;
  proven('certificate', () => readCa({ certificate, chain }, key !== null));
  const writes: readonly Write[] = [
    {
      op: 'insert',
      kind: 'issuingCa',
      as: recordedCa,
      values: {
        createdAt: now,
        updatedAt: now,
        uniqueName,
        commonName: commonName(ca.subject) ?? uniqueName,
        type,
        isActive,
        certificate,
        chain,
        key,
        issuer,
        crlNumber: 0,
        lastCrlIssuedAt: null,
        lastRevocationAt: null,
      },
    },
    audit(
      context,
      actor,
      {
        action: 'issuingCa.create',
        object: 'issuingCa',
        detail: { uniqueName, type, fingerprint: fingerprint(certificate) },
      },
      recordedCa,
    ),
  ];
  const more = key && ca.alongside?.({ certificate, chain, key });
  return [...writes, ...(more ?? [])];
}

function outcomeOf(
  context: Pick<Ports, 'clock'> & WithSettings,
  ca: NewCa,
  subjectKey: PublicKey,
): IssuanceRequest['outcome'] {
  const issuer = ca.parent?.certificate;
  // Times in X.509 are whole seconds.
  const second = Math.floor(context.clock.now() / 1000) * 1000;
  return {
    subject: ca.subject,
    extensions: caExtensions(context, ca, subjectKey),
    notBefore: Math.max(second - hour, issuer?.notBefore ?? 0),
    notAfter: Math.min(second + ca.lifetime, issuer?.notAfter ?? Number.POSITIVE_INFINITY),
  };
}

/** Returns the extensions of a CA certificate (RFC 5280 §4.2.1). */
function caExtensions(context: WithSettings, ca: NewCa, subjectKey: PublicKey): readonly Extension[] {
  const { parent, pathLength } = ca;
  const issuerKey = parent ? readPublicKey(parent.certificate.spki) : subjectKey;
  const issuerKeyIdentifier =
    (parent && subjectKeyIdentifierOf(parent.certificate)) ?? keyIdentifier(issuerKey);
  const extensions = [
    basicConstraintsExtension({ ca: true, ...(pathLength !== undefined && { pathLength }) }),
    keyUsageExtension(['keyCertSign', 'cRLSign', 'digitalSignature']),
    subjectKeyIdentifierExtension(keyIdentifier(subjectKey)),
    authorityKeyIdentifierExtension(issuerKeyIdentifier),
  ];
  if (!parent) return extensions;
  const { crl, aia, ocsp } = publicUrls(context.settings, parent.record.id);
  return [
    ...extensions,
    crlDistributionPointsExtension([crl]),
    authorityInfoAccessExtension({ caIssuers: [aia], ocsp: ocsp === undefined ? [] : [ocsp] }),
  ];
}
