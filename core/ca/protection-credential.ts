import type { LoadedCa } from '../configuration.ts';
import { type Context, systemActor } from '../context.ts';
import { Fault } from '../fault.ts';
import type { SignatureAlgorithm } from '../x509/algorithm.ts';
import { subjectKeyIdentifierOf } from '../x509/certificate.ts';
import {
  authorityKeyIdentifierExtension,
  subjectKeyIdentifierExtension,
} from '../x509/extensions/identity.ts';
import {
  authorityInfoAccessExtension,
  crlDistributionPointsExtension,
} from '../x509/extensions/locations.ts';
import { extendedKeyUsageExtension, keyUsageExtension } from '../x509/extensions/usage.ts';
import { attribute, buildName, commonName } from '../x509/name.ts';
import { oid } from '../x509/oids.ts';
import { keyIdentifier, type PublicKey, readPublicKey } from '../x509/public-key.ts';
import { type Credential, credentialType } from './credential.ts';
import { issue } from './issuance.ts';
import { generateKey, type NamedKeyStore, withNewKey } from './keys.ts';
import { nearestCa } from './nearest-ca.ts';
import { credentialWrites } from './own-credentials.ts';
import type { Preparation } from './prepared.ts';
import { publicUrls } from './urls.ts';

/** What a domain's messages are signed with. */
export interface ProtectionCredential {
  readonly certificate: Uint8Array;
  /** Its issuer first, up to the root, DER. */
  readonly chain: readonly Uint8Array[];
  readonly algorithm: SignatureAlgorithm;
  /** X.509-ready: ECDSA in DER. Faults: unavailable. */
  sign(data: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

const hour = 3_600_000;
const lifetime = 2 * 365 * 24 * hour;
const tries = 3;

/**
 * The credentials by which CAs protect messages: a key of its own for each CA, certified by it for that purpose (RFC 9483 §1.6,
 * RFC 9480 §2.2), made when first needed and anew when a third of its life is left.
 */
export class ProtectionCredentials {
  readonly #context: Context;
  readonly #known = new Map<
    number,
    { readonly counter: number; readonly credential: ProtectionCredential }
  >();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Cheap to ask again. Faults: unavailable. */
  async of(wanted: LoadedCa): Promise<ProtectionCredential> {
    const configuration = await this.#context.configuration.current();
    const { counter } = configuration;
    const ca = nearestCa(configuration, wanted, this.#context.clock.now());
    const known = this.#known.get(ca.record.id);
    if (known?.counter === counter) return known.credential;
    const credential = this.#opened(ca, await this.#find(ca));
    this.#known.set(ca.record.id, { counter, credential });
    return credential;
  }

  async #find(ca: LoadedCa): Promise<Credential> {
    const { store, clock } = this.#context;
    for (let n = 1; ; n++) {
      const credential = await store.find('credential', { uniqueName: nameOf(ca) });
      if (credential && clock.now() < credential.notValidAfter - lifetime / 3) return credential;
      try {
        await this.#make(ca, credential);
      } catch (error) {
        // Another instance has made one.
        const conflict = error instanceof Fault && error.code === 'conflict';
        if (n < tries && conflict) continue;
        if (!credential || clock.now() >= credential.notValidAfter) throw error;
        this.#context.log.error('the protection credential could not be renewed', error, {
          ca: ca.record.uniqueName,
        });
        return credential;
      }
    }
  }

  #opened({ chain }: LoadedCa, { certificate, key, signatureSuite }: Credential): ProtectionCredential {
    const keys = this.#context.keyStores.get(key.store);
    if (!keys) throw new Fault('unavailable', 'the key store of the protection credential is not configured');
    return {
      certificate,
      chain,
      algorithm: signatureSuite,
      sign: (data) => keys.sign(key.id, signatureSuite, data),
    };
  }

  async #make(ca: LoadedCa, previous: Credential | undefined): Promise<void> {
    const context = this.#context;
    const keyStore = nearest(context);
    const uniqueName = nameOf(ca);
    const key = await generateKey(keyStore, 'p-256', uniqueName);
    await withNewKey(keyStore, key, async () => {
      const subjectKey = readPublicKey(key.spki);
      await issue(context, {
        ca,
        outcome: outcomeOf(context, ca, subjectKey),
        subjectKey,
        request: undefined,
        device: null,
        domain: null,
        profile: null,
        profileName: '',
        protocol: 'internal',
        actor: systemActor,
        alongside: (certificate, next) => [
          // Its key stays for those instances that have not heard of the new one yet.
          ...(previous ? ([{ op: 'delete', kind: 'credential', id: previous.id }] as const) : []),
          ...credentialWrites(
            context,
            {
              type: credentialType.issuedCredential,
              uniqueName,
              certificate,
              chain: ca.chain,
              key: { store: keyStore.name, id: key.id },
              isActive: false,
              issuingCa: null,
            },
            systemActor,
            next + (previous ? 1 : 0),
          ),
        ],
      });
    });
    context.configuration.expire();
  }
}

const nameOf = ({ record }: LoadedCa): string => `cmp-protection-${record.id}`;

/** Every message is signed by it: rather a key in this process than one behind a device that is busy with certificates. */
function nearest({ keyStores }: Context): NamedKeyStore {
  const stores = [...keyStores].map(([name, keys]) => ({ name, keys }));
  const found = stores.find(({ keys }) => keys.inProcess) ?? stores[0];
  if (!found) throw new Fault('unavailable', 'no key store is configured');
  return found;
}

function outcomeOf(context: Context, ca: LoadedCa, key: PublicKey): Preparation['outcome'] {
  const { certificate, record } = ca;
  const { crl, aia } = publicUrls(context.settings, record.id);
  const issuerIdentifier =
    subjectKeyIdentifierOf(certificate) ?? keyIdentifier(readPublicKey(certificate.spki));
  // X.509 knows whole seconds only.
  const now = Math.floor(context.clock.now() / 1000) * 1000;
  const name = `CMP ${commonName(certificate.subject) ?? record.uniqueName}`;
  return {
    subject: buildName([[attribute('CN', name.slice(0, 64))]]),
    extensions: [
      keyUsageExtension(['digitalSignature']),
      extendedKeyUsageExtension([oid.cmcCa, oid.cmKga]),
      subjectKeyIdentifierExtension(keyIdentifier(key)),
      authorityKeyIdentifierExtension(issuerIdentifier),
      crlDistributionPointsExtension([crl]),
      authorityInfoAccessExtension({ caIssuers: [aia], ocsp: [] }),
    ],
    notBefore: Math.max(now - hour, certificate.notBefore),
    notAfter: Math.min(now + lifetime, certificate.notAfter),
  };
}
