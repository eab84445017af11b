import { audit } from '../audit/record.ts';
import { nearestCa, publicUrls } from '../configuration/ca-lookup.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { resolveCa, resolveDomain } from '../configuration/target.ts';
import { Fault } from '../fault.ts';
import { internalIssuance, issue } from '../issuance/issue.ts';
import type { KeyStore, StoredKey } from '../ports/keys.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import { newHandle, type Values, type Write } from '../ports/store.ts';
import type { Actor } from '../records/audit-event.ts';
import { credentialType, type KeyReference } from '../records/credential.ts';
import {
  generateKey,
  keyStoreNamed,
  keyStoreThat,
  type NamedKeyStore,
  withNewKey,
} from '../signing/key-stores.ts';
import { defaultSignatureAlgorithm, type KeyType } from '../x509/algorithm.ts';
import { parseCertificate } from '../x509/certificate.ts';
import type { Extension } from '../x509/extension.ts';
import { subjectAltNameExtension } from '../x509/extensions/identity.ts';
import type { GeneralName } from '../x509/general-name.ts';
import { attribute, buildName, commonName, type Name } from '../x509/name.ts';
import { readPublicKey } from '../x509/public-key.ts';
import { type VerifiedRequest, verifyPkcs10 } from '../x509/request.ts';
import { assembleCertificationRequest, buildCertificationRequestInfo } from '../x509/request-builder.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'keyStores' | 'store'>,
    WithConfiguration,
    WithSettings {}

export interface OwnCredential {
  readonly type: number;
  readonly uniqueName: string;
  /** The shipped profile of the certificate. */
  readonly profileName: string;
  readonly commonName: string;
  readonly names: readonly GeneralName[];
  readonly keyType: KeyType;
  /** For a TLS server credential: activate it. */
  readonly activate: boolean;
}

/**
 * Generates a key in a key store, has the default domain's CA issue a certificate with a profile, and returns the
 * credential's id. The request takes the same path as a device's request, including proof of possession. Faults:
 * unavailable, those of the profile.
 */
export async function createOwnCredential(
  context: Dependencies,
  wanted: OwnCredential,
  actor: Actor,
): Promise<number> {
  const configuration = await context.configuration.current();
  const domain = resolveDomain(configuration, undefined, context.settings.defaultDomain);
  const ca = nearestCa(configuration, resolveCa(configuration, domain), context.clock.now());
  const profile = configuration.profileNamed(wanted.profileName);
  if (!profile)
    throw new Fault('unavailable', `the certificate profile "${wanted.profileName}" does not exist`);
  const keyStore = keyStoreFor(context, wanted.type);
  const key = await generateKey(keyStore, wanted.keyType, wanted.commonName);
  return withNewKey(keyStore, key, async () => {
    const subject = buildName([[attribute('CN', wanted.commonName)]]);
    const extensions = wanted.names.length > 0 ? [subjectAltNameExtension(wanted.names)] : [];
    const request = await requestForKey(keyStore.keys, key, subject, extensions);
    const outcome = profile.compiled.apply({
      request,
      device: unregisteredDevice(wanted.commonName),
      domain,
      now: context.clock.now(),
      issuer: ca.certificate,
      urls: publicUrls(context.settings, ca.record.id),
    });
    const activation = wanted.activate ? await replaceActive(context) : [];
    const issued = await issue(context, configuration, {
      ...internalIssuance,
      ca,
      outcome,
      subjectKey: request.publicKey,
      request,
      domain: domain.id,
      profile: profile.record.id,
      profileName: wanted.profileName,
      actor,
      alongside: (certificate) => [
        ...credentialWrites(
          context,
          {
            type: wanted.type,
            uniqueName: wanted.uniqueName,
            certificate,
            chain: ca.chain,
            key: { store: keyStore.name, id: key.id },
            isActive: wanted.activate,
            issuingCa: null,
          },
          actor,
        ),
        ...activation,
      ],
    });
    context.configuration.expire();
    return issued.idOf(recordedCredential);
  });
}

/**
 * Stands for the device in profiles if the service or an administrator requests a certificate by name. No device has
 * the id 0.
 */
export const unregisteredDevice = (name: string) => ({ id: 0, commonName: name, serialNumber: '' });

/**
 * Returns the key store for a credential type. The listener needs the private key itself for TLS handshakes; other keys
 * may stay in a device. Faults: unavailable.
 */
export const keyStoreFor = (context: Pick<Ports, 'keyStores'>, type: number): NamedKeyStore =>
  type === credentialType.tlsServer
    ? keyStoreThat(
        context,
        'export',
        'no configured key store can export keys: add one with plugin = "keyfile"',
      )
    : keyStoreNamed(context);

interface NewCredential
  extends Omit<
    Values<'credential'>,
    'createdAt' | 'updatedAt' | 'commonName' | 'notValidAfter' | 'signatureSuite'
  > {
  readonly type: number;
  readonly uniqueName: string;
  readonly certificate: Uint8Array;
  readonly chain: readonly Uint8Array[];
  readonly key: KeyReference;
}

/** The handle of the credential in the commit that records it. */
export const recordedCredential = newHandle('credential');

/** Returns the writes that record a credential and its audit event. */
export function credentialWrites(
  context: Pick<Ports, 'clock'>,
  credential: NewCredential,
  actor: Actor,
): readonly Write[] {
  const { subject, notAfter, spki } = parseCertificate(credential.certificate);
  const now = context.clock.now();
  const { type, uniqueName } = credential;
  return [
    {
      op: 'insert',
      kind: 'credential',
      as: recordedCredential,
      values: {
        ...credential,
        createdAt: now,
        updatedAt: now,
        commonName: commonName(subject) ?? '',
        notValidAfter: notAfter,
        signatureSuite: defaultSignatureAlgorithm(readPublicKey(spki).type),
      },
    },
    audit(
      context,
      actor,
      { action: 'credential.create', object: 'credential', detail: { uniqueName, type } },
      recordedCredential,
    ),
  ];
}

/**
 * Returns the write that deactivates the listener's credential; the commit fails if another one was activated
 * concurrently.
 */
export async function replaceActive({ store, clock }: Pick<Ports, 'clock' | 'store'>): Promise<Write[]> {
  const where = [
    { field: 'type', is: 'equal', value: credentialType.tlsServer },
    { field: 'isActive', is: 'equal', value: true },
  ] as const;
  // Reads no field that may be damaged: a damaged credential has to be replaced as well.
  const { records } = await store.listWithout('credential', ['chain', 'key'], { where, limit: 1 });
  const [active] = records;
  if (!active) return [];
  const set = { isActive: false, updatedAt: clock.now() };
  return [{ op: 'update', kind: 'credential', id: active.id, where: { isActive: true }, set }];
}

/** Signs a request with a key of ours, so that it has a proof of possession like any other. */
export async function requestForKey(
  keys: KeyStore,
  key: StoredKey,
  subject: Name,
  extensions: readonly Extension[],
): Promise<VerifiedRequest> {
  const info = buildCertificationRequestInfo(subject, key.spki, extensions);
  const algorithm = defaultSignatureAlgorithm(readPublicKey(key.spki).type);
  return verifyPkcs10(
    assembleCertificationRequest(info, algorithm, await keys.sign(key.id, algorithm, info)),
  );
}
