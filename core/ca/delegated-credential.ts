import { systemActor } from '../audit/record.ts';
import { publicUrls } from '../configuration/ca-lookup.ts';
import type { Configuration, LoadedCa, WithConfiguration } from '../configuration/configuration.ts';
import { hasExpired } from '../der/time.ts';
import { Fault, toFault } from '../fault.ts';
import { internalIssuance, issue } from '../issuance/issue.ts';
import type { Preparation } from '../issuance/prepare.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { Write } from '../ports/store.ts';
import { type Credential, credentialType } from '../records/credential.ts';
import { generateKey, type NamedKeyStore, withNewKey } from '../signing/key-stores.ts';
import { subjectKeyIdentifierOf } from '../x509/certificate.ts';
import type { Extension } from '../x509/extension.ts';
import {
  authorityKeyIdentifierExtension,
  subjectKeyIdentifierExtension,
} from '../x509/extensions/identity.ts';
import { keyUsageExtension } from '../x509/extensions/usage.ts';
import { attribute, buildName, commonName } from '../x509/name.ts';
import { keyIdentifier, type PublicKey, readPublicKey } from '../x509/public-key.ts';
import { credentialWrites } from './own-credentials.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'keyStores' | 'log' | 'ownKeyStores' | 'store'>,
    WithConfiguration,
    WithSettings {}

/** A delegation: the certificate with which a CA authorises another key for one purpose. Times in milliseconds. */
export interface Delegation {
  /** The credential is named after this and the id of the CA. */
  readonly name: string;
  /** Precedes the CA's name in the subject. */
  readonly title: string;
  /** The validity period; the certificate is renewed when a third of it is left. */
  readonly lifetime: number;
  /** How far notBefore is set back, for clocks that are behind. */
  readonly backdated: number;
  /** Extensions besides key usage (digitalSignature) and the key identifiers. */
  readonly extensions: (urls: ReturnType<typeof publicUrls>) => readonly Extension[];
}

/** One instance makes a credential, and the others find it on a retry. */
const tries = 3;
/** Milliseconds for which a credential stays in use after its renewal failed. */
const patience = 60_000;

interface Known {
  readonly counter: number;
  readonly credential: Credential;
  readonly lookAgain: number;
}

/** Keys that CAs have certified for one purpose: one for each CA, generated at first use and renewed in time. */
export class DelegatedCredentials {
  readonly #context: Dependencies;
  readonly #delegation: Delegation;
  readonly #known = new Map<number, Known>();
  readonly #looking = new Map<number, Promise<Credential>>();

  constructor(context: Dependencies, delegation: Delegation) {
    this.#context = context;
    this.#delegation = delegation;
  }

  /** Returns the same object until it has to be renewed, so frequent calls are cheap. Faults: unavailable. */
  async of(ca: LoadedCa): Promise<Credential> {
    const { clock } = this.#context;
    const configuration = await this.#context.configuration.current();
    const { counter } = configuration;
    const { id } = ca.record;
    const known = this.#known.get(id);
    if (known?.counter === counter && clock.now() < known.lookAgain) return known.credential;
    const looking = this.#looking.get(id);
    if (looking) return looking;
    const look = this.#find(configuration, ca)
      .then((credential) => {
        const lookAgain = Math.max(this.#renewFrom(credential), clock.now() + patience);
        const before = this.#known.get(id)?.credential;
        const same = before?.id === credential.id ? before : credential;
        this.#known.set(id, { counter, credential: same, lookAgain });
        return same;
      })
      .finally(() => this.#looking.delete(id));
    this.#looking.set(id, look);
    return look;
  }

  #renewFrom({ notValidAfter }: Credential): number {
    return notValidAfter - this.#delegation.lifetime / 3;
  }

  async #find(configuration: Configuration, ca: LoadedCa): Promise<Credential> {
    const { store, clock } = this.#context;
    const uniqueName = `${this.#delegation.name}-${ca.record.id}`;
    for (let n = 1; ; n++) {
      const credential = await store.find('credential', { uniqueName });
      if (credential && clock.now() < this.#renewFrom(credential)) return credential;
      // A renewal cannot outlast the CA.
      if (credential && credential.notValidAfter >= ca.certificate.notAfter) return credential;
      try {
        await this.#make(configuration, ca, uniqueName, credential);
      } catch (error) {
        // Another instance has made the credential.
        const conflict = error instanceof Fault && error.code === 'conflict';
        if (n < tries && conflict) continue;
        if (!credential || hasExpired(credential.notValidAfter, clock.now())) throw error;
        this.#context.log.error('a credential could not be renewed', error, { credential: uniqueName });
        return credential;
      }
    }
  }

  async #make(
    configuration: Configuration,
    ca: LoadedCa,
    uniqueName: string,
    previous: Credential | undefined,
  ): Promise<void> {
    const context = this.#context;
    const keyStore = nearest(context);
    // The previous key stays for instances that do not know the new one yet; the key before that is removed.
    const kept = `${uniqueName}-before`;
    const gone = previous && (await context.store.find('credential', { uniqueName: kept }));
    const key = await generateKey(keyStore, 'p-256', uniqueName);
    await withNewKey(keyStore, key, async () => {
      const subjectKey = readPublicKey(key.spki);
      const succession: readonly Write[] = [
        ...(gone ? ([{ op: 'delete', kind: 'credential', id: gone.id }] as const) : []),
        ...(previous
          ? ([
              {
                op: 'update',
                kind: 'credential',
                id: previous.id,
                where: { uniqueName },
                set: { uniqueName: kept, updatedAt: context.clock.now() },
              },
            ] as const)
          : []),
      ];
      await issue(context, configuration, {
        ca,
        outcome: this.#outcome(ca, subjectKey),
        subjectKey,
        ...internalIssuance,
        actor: systemActor,
        alongside: (certificate) => [
          ...succession,
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
          ),
        ],
      });
    });
    context.configuration.expire();
    if (gone) await this.#destroy(gone);
  }

  async #destroy({ key, uniqueName }: Credential): Promise<void> {
    try {
      await this.#context.keyStores.get(key.store)?.remove(key.id);
    } catch (error) {
      // The key is no longer used; it only takes up space.
      this.#context.log.warn('a key that is no longer used could not be removed', {
        credential: uniqueName,
        reason: toFault(error).detail,
      });
    }
  }

  #outcome({ certificate, record }: LoadedCa, key: PublicKey): Preparation['outcome'] {
    const { title, lifetime, backdated, extensions } = this.#delegation;
    const { clock, settings } = this.#context;
    const issuerIdentifier =
      subjectKeyIdentifierOf(certificate) ?? keyIdentifier(readPublicKey(certificate.spki));
    // Times in X.509 are whole seconds.
    const now = Math.floor(clock.now() / 1000) * 1000;
    const name = `${title} ${commonName(certificate.subject) ?? record.uniqueName}`;
    return {
      subject: buildName([[attribute('CN', name.slice(0, 64))]]),
      extensions: [
        keyUsageExtension(['digitalSignature']),
        subjectKeyIdentifierExtension(keyIdentifier(key)),
        authorityKeyIdentifierExtension(issuerIdentifier),
        ...extensions(publicUrls(settings, record.id)),
      ],
      notBefore: Math.max(now - backdated, certificate.notBefore),
      notAfter: Math.min(now + lifetime, certificate.notAfter),
    };
  }
}

/**
 * Returns the fastest key store, because these keys sign often: a key in this process rather than one in a device that
 * is busy with certificates.
 */
function nearest({ keyStores }: Pick<Ports, 'keyStores'>): NamedKeyStore {
  const stores = [...keyStores].map(([name, keys]) => ({ name, keys }));
  const found = stores.find(({ keys }) => keys.inProcess) ?? stores[0];
  if (!found) throw new Fault('unavailable', 'no key store is configured');
  return found;
}
