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
  /** The shipped profile that it is issued by. */
  readonly profileName: string;
  readonly commonName: string;
  readonly names: readonly GeneralName[];
  readonly keyType: KeyType;
  /** For a TLS server credential: serve it from now on. */
  readonly activate: boolean;
}

/**
 * Makes a key in a key store and has the default domain's CA certify it by a profile; the credential's id. It goes
 * the same way as a device's request, proof of possession included. Faults: unavailable, those of the profile.
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
  if (!profile) throw new Fault('unavailable', `there is no profile ${wanted.profileName}`);
  const keyStore = keyStoreFor(context, wanted.type);
  const key = await generateKey(keyStore, wanted.keyType, wanted.commonName);
  return withNewKey(keyStore, key, async () => {
    const subject = buildName([[attribute('CN', wanted.commonName)]]);
    const extensions = wanted.names.length > 0 ? [subjectAltNameExtension(wanted.names)] : [];
    const request = await requestForKey(keyStore.keys, key, subject, extensions);
    const outcome = profile.compiled.apply({
      request,
      device: standIn(wanted.commonName),
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
 * What profiles may say of the device behind a request, where the service asks for itself or an administrator does
 * for somebody: its name. No device has the id 0.
 */
export const standIn = (name: string) => ({ id: 0, commonName: name, serialNumber: '' });

/** The listener needs the key itself for its handshakes; other keys may be where they never leave. Faults: unavailable. */
export const keyStoreFor = (context: Pick<Ports, 'keyStores'>, type: number): NamedKeyStore =>
  type === credentialType.tlsServer
    ? keyStoreThat(
        context,
        'export',
        'no key store is configured that hands out keys: add one with plugin = "keyfile"',
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

/** In a commit that records a credential: that credential. */
export const recordedCredential = newHandle('credential');

/** The writes that record a credential and its audit event. */
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

/** Takes the listener's credential out of service; the commit fails when another one has been activated meanwhile. */
export async function replaceActive({ store, clock }: Pick<Ports, 'clock' | 'store'>): Promise<Write[]> {
  const where = [
    { field: 'type', is: 'equal', value: credentialType.tlsServer },
    { field: 'isActive', is: 'equal', value: true },
  ] as const;
  // Without what a damaged record may not have: that one has to be replaced as well.
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
