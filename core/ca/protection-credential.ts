import { nearestCa } from '../configuration/ca-lookup.ts';
import type { LoadedCa, WithConfiguration } from '../configuration/configuration.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { Credential } from '../records/credential.ts';
import { guardedKey } from '../signing/guarded-key.ts';
import type { SignatureAlgorithm } from '../x509/algorithm.ts';
import { parseCertificate } from '../x509/certificate.ts';
import {
  authorityInfoAccessExtension,
  crlDistributionPointsExtension,
} from '../x509/extensions/locations.ts';
import { extendedKeyUsageExtension } from '../x509/extensions/usage.ts';
import { oid } from '../x509/oids.ts';
import { readPublicKey } from '../x509/public-key.ts';
import { DelegatedCredentials, type Delegation } from './delegated-credential.ts';
import { linksTo } from './root-update.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'keyStores' | 'log' | 'ownKeyStores' | 'store'>,
    WithConfiguration,
    WithSettings {}

/** The credential that signs a domain's messages. */
export interface ProtectionCredential {
  readonly certificate: Uint8Array;
  /** The certificates above it, DER: its issuer first, up to the root. */
  readonly chain: readonly Uint8Array[];
  /**
   * Link certificates from other roots of the same name to that root, DER, for clients that trust only an older or a
   * newer root.
   */
  readonly links: readonly Uint8Array[];
  readonly algorithm: SignatureAlgorithm;
  /** Signs in the X.509 form: ECDSA in DER. Faults: unavailable. */
  sign(data: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

const minute = 60_000;
const hour = 60 * minute;

/** RFC 9483 §1.6, RFC 9480 §2.2. */
const protection: Delegation = {
  name: 'cmp-protection',
  title: 'CMP',
  lifetime: 2 * 365 * 24 * hour,
  backdated: hour,
  extensions: ({ crl, aia }) => [
    extendedKeyUsageExtension([oid.cmcCa, oid.cmKga]),
    crlDistributionPointsExtension([crl]),
    authorityInfoAccessExtension({ caIssuers: [aia], ocsp: [] }),
  ],
};

/** The credentials that protect messages: each CA certifies a separate key for this purpose. */
export class ProtectionCredentials {
  readonly #context: Dependencies;
  readonly #credentials: DelegatedCredentials;
  readonly #opened = new WeakMap<Credential, ProtectionCredential>();
  readonly #links = new WeakMap<
    LoadedCa,
    { readonly links: readonly Uint8Array[]; readonly until: number }
  >();

  constructor(context: Dependencies) {
    this.#context = context;
    this.#credentials = new DelegatedCredentials(context, protection);
  }

  /** Returns the credential of a CA; frequent calls are cheap. Faults: unavailable. */
  async of(wanted: LoadedCa): Promise<ProtectionCredential> {
    const { configuration, clock } = this.#context;
    const ca = nearestCa(await configuration.current(), wanted, clock.now());
    const credential = await this.#credentials.of(ca);
    const links = await this.#linksTo(ca);
    const known = this.#opened.get(credential);
    if (known?.chain === ca.chain && known.links === links) return known;
    const opened = this.#open(ca, credential, links);
    this.#opened.set(credential, opened);
    return opened;
  }

  /** Reads the links once a minute, because links are issued and revoked without a change of the configuration. */
  async #linksTo(ca: LoadedCa): Promise<readonly Uint8Array[]> {
    const { configuration, clock } = this.#context;
    const now = clock.now();
    const known = this.#links.get(ca);
    if (known && now < known.until) return known.links;
    const root = ca.chain.at(-1);
    const links = root ? await linksTo(this.#context, await configuration.current(), root) : [];
    this.#links.set(ca, { links, until: now + minute });
    return links;
  }

  #open(
    { chain }: LoadedCa,
    { certificate, key, signatureSuite }: Credential,
    links: readonly Uint8Array[],
  ): ProtectionCredential {
    const guarded = guardedKey(this.#context, key, readPublicKey(parseCertificate(certificate).spki));
    return {
      certificate,
      chain,
      links,
      algorithm: signatureSuite,
      sign: (data) => guarded.sign(signatureSuite, data),
    };
  }
}
