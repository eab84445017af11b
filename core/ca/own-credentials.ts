import type { Actor } from '../audit/event.ts';
import type { Context } from '../context.ts';
import { resolveCa, resolveDomain } from '../enrolment/target.ts';
import { Fault } from '../fault.ts';
import type { KeyStore, StoredKey } from '../ports/keys.ts';
import { defaultSignatureAlgorithm, type KeyType } from '../x509/algorithm.ts';
import { subjectAltNameExtension } from '../x509/extensions/identity.ts';
import type { GeneralName } from '../x509/general-name.ts';
import { attribute, buildName } from '../x509/name.ts';
import { readPublicKey } from '../x509/public-key.ts';
import { type VerifiedRequest, verifyPkcs10 } from '../x509/request.ts';
import { assembleCertificationRequest, buildCertificationRequestInfo } from '../x509/request-builder.ts';
import { issue } from './issuance.ts';
import { publicUrls } from './urls.ts';

export interface OwnCredential {
  readonly type: number;
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
  context: Context,
  wanted: OwnCredential,
  actor: Actor,
): Promise<number> {
  const configuration = await context.configuration.current();
  const domain = resolveDomain(configuration, undefined, context.settings.defaultDomain);
  const ca = resolveCa(configuration, domain);
  const profile = configuration.profileNamed(wanted.profileName);
  if (!profile) throw new Fault('unavailable', `there is no profile ${wanted.profileName}`);
  const [storeName, keys] = exportingKeyStore(context);
  const key = await keys.generate(wanted.keyType, wanted.commonName);
  const request = await requestFor(keys, key, wanted);
  const outcome = profile.compiled.apply({
    request,
    device: undefined,
    domain,
    now: context.clock.now(),
    issuer: ca.certificate,
    urls: publicUrls(context.settings, ca.record.id),
  });
  const previous = wanted.activate
    ? await context.store.find('credential', { type: wanted.type, isActive: true })
    : undefined;
  const { alongside } = await issue(context, {
    ca,
    outcome,
    subjectKey: request.publicKey,
    request,
    device: null,
    domain: domain.id,
    profile: profile.record.id,
    profileName: wanted.profileName,
    protocol: 'internal',
    actor,
    alongside: (der) => [
      ...(previous
        ? ([{ op: 'update', kind: 'credential', id: previous.id, set: { isActive: false } }] as const)
        : []),
      {
        op: 'insert',
        kind: 'credential',
        values: {
          createdAt: context.clock.now(),
          type: wanted.type,
          certificate: der,
          chain: ca.chain,
          key: { store: storeName, id: key.id },
          isActive: wanted.activate,
        },
      },
    ],
  });
  context.configuration.expire();
  return alongside.at(-1)!;
}

/** Somewhere a key can be handed out of: the listener needs it for its handshakes. Faults: unavailable. */
function exportingKeyStore(context: Context): readonly [string, KeyStore] {
  for (const entry of context.keyStores) if (entry[1].export) return entry;
  throw new Fault(
    'unavailable',
    'no key store is configured that hands out keys: add one with plugin = "keyfile"',
  );
}

async function requestFor(keys: KeyStore, key: StoredKey, wanted: OwnCredential): Promise<VerifiedRequest> {
  const subject = buildName([[attribute('CN', wanted.commonName)]]);
  const extensions = wanted.names.length > 0 ? [subjectAltNameExtension(wanted.names)] : [];
  const info = buildCertificationRequestInfo(subject, key.spki, extensions);
  const algorithm = defaultSignatureAlgorithm(readPublicKey(key.spki).type);
  return verifyPkcs10(
    assembleCertificationRequest(info, algorithm, await keys.sign(key.id, algorithm, info)),
  );
}
