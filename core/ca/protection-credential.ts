import type { LoadedCa, WithConfiguration } from '../configuration/configuration.ts';
import { nearestCa } from '../configuration/nearest-ca.ts';
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

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'keyStores' | 'log' | 'ownKeyStores' | 'store'>,
    WithConfiguration,
    WithSettings {}

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

/** The credentials by which CAs protect messages: a key of its own for each CA, certified by it for that purpose. */
export class ProtectionCredentials {
  readonly #context: Dependencies;
  readonly #credentials: DelegatedCredentials;
  readonly #opened = new WeakMap<Credential, ProtectionCredential>();

  constructor(context: Dependencies) {
    this.#context = context;
    this.#credentials = new DelegatedCredentials(context, protection);
  }

  /** Cheap to ask again. Faults: unavailable. */
  async of(wanted: LoadedCa): Promise<ProtectionCredential> {
    const { configuration, clock } = this.#context;
    const ca = nearestCa(await configuration.current(), wanted, clock.now());
    const credential = await this.#credentials.of(ca);
    const known = this.#opened.get(credential);
    if (known?.chain === ca.chain) return known;
    const opened = this.#open(ca, credential);
    this.#opened.set(credential, opened);
    return opened;
  }

  #open({ chain }: LoadedCa, { certificate, key, signatureSuite }: Credential): ProtectionCredential {
    const guarded = guardedKey(this.#context, key, readPublicKey(parseCertificate(certificate).spki));
    return {
      certificate,
      chain,
      algorithm: signatureSuite,
      sign: (data) => guarded.sign(signatureSuite, data),
    };
  }
}
