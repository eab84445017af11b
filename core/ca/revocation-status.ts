import { sameIssuer } from '../configuration/ca-lookup.ts';
import type { LoadedCa, WithConfiguration } from '../configuration/configuration.ts';
import { hasExpired } from '../der/time.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import type { Credential, KeyReference } from '../records/credential.ts';
import { guardedKey } from '../signing/guarded-key.ts';
import {
  defaultSignatureAlgorithm,
  type SignatureAlgorithm,
  signatureAlgorithmIdentifier,
} from '../x509/algorithm.ts';
import { formatSerial, parseCertificate } from '../x509/certificate.ts';
import type { RevocationReason } from '../x509/crl.ts';
import { extendedKeyUsageExtension } from '../x509/extensions/usage.ts';
import { oid } from '../x509/oids.ts';
import { readPublicKey } from '../x509/public-key.ts';
import { DelegatedCredentials, type Delegation } from './delegated-credential.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'keyStores' | 'log' | 'ownKeyStores' | 'store'>,
    WithConfiguration,
    WithSettings {}

/** A CA whose certificates are revoked here, as OCSP identifies it. */
export interface Authority {
  readonly id: number;
  /** Its subject, DER. */
  readonly name: Uint8Array;
  /** Contents of its public key's BIT STRING. */
  readonly publicKey: Uint8Array;
}

/** The public status of a serial number; times in milliseconds since 1970. `certificateHold` is temporary. */
export type RevocationStatus =
  | { readonly kind: 'good' }
  | { readonly kind: 'revoked'; readonly at: number; readonly reason: RevocationReason | null }
  /** The CA has issued no certificate with this serial number. */
  | { readonly kind: 'unknown' };

/** A credential that signs revocation status for a CA (RFC 6960 §4.2.2.2). */
export interface Responder {
  /** DER, issued by the CA itself; absent if the CA signs with its own key. */
  readonly certificate: Uint8Array | undefined;
  /** Contents of its public key's BIT STRING. */
  readonly publicKey: Uint8Array;
  /** Milliseconds since 1970: responses must not be valid for longer. */
  readonly notAfter: number;
  /** AlgorithmIdentifier, DER. */
  readonly algorithm: Uint8Array;
  /** Signs in the X.509 form: ECDSA in DER. Faults: unavailable. */
  sign(data: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** What an OCSP or similar responder needs, independent of its protocol. Needs no authentication. */
export interface RevocationStatuses {
  /**
   * Returns the CAs whose keys we hold, active or not, one for each name and key. Returns the same array while nothing
   * changed.
   */
  authorities(): Promise<readonly Authority[]>;
  /** Returns the current status. `serial`: contents octets of the INTEGER. Faults: unavailable. */
  of(ca: number, serial: Uint8Array): Promise<RevocationStatus>;
  /**
   * Returns the same object as long as it is valid. Faults: notFound (no CA of `authorities`, or expired), unavailable.
   */
  responder(ca: number): Promise<Responder>;
}

const day = 24 * 3_600_000;

/**
 * RFC 6960 §4.2.2.2: delegated by id-kp-OCSPSigning. Clients do not check whether a responder itself is revoked, so its
 * certificate is valid for only a week (§4.2.2.2.1).
 */
const ocspResponder: Delegation = {
  name: 'ocsp-responder',
  title: 'OCSP',
  lifetime: 7 * day,
  backdated: 3_600_000,
  extensions: () => [
    extendedKeyUsageExtension([oid.ocspSigning]),
    { oid: oid.ocspNoCheck, critical: false, value: Uint8Array.of(5, 0) },
  ],
};

/** RFC 5280 §4.1.2.2: serial numbers have at most 20 octets; no longer ones were issued. */
const longestSerial = 20;

export function revocationStatuses(context: Dependencies): RevocationStatuses {
  const { store, clock, configuration } = context;
  const credentials = new DelegatedCredentials(context, ocspResponder);
  const opened = new WeakMap<Credential | LoadedCa, Responder>();
  let named: { readonly counter: number; readonly authorities: readonly Authority[] } | undefined;

  function open(holder: Credential | LoadedCa, made: () => Responder): Responder {
    const known = opened.get(holder);
    if (known) return known;
    const responder = made();
    opened.set(holder, responder);
    return responder;
  }

  function speaker(
    spki: Uint8Array,
    key: KeyReference,
    algorithm: SignatureAlgorithm,
  ): Pick<Responder, 'publicKey' | 'algorithm' | 'sign'> {
    const publicKey = readPublicKey(spki);
    const guarded = guardedKey(context, key, publicKey);
    return {
      publicKey: publicKey.bytes,
      algorithm: signatureAlgorithmIdentifier(algorithm),
      sign: (data) => guarded.sign(algorithm, data),
    };
  }

  return {
    async authorities() {
      const current = await configuration.current();
      const { counter } = current;
      if (named?.counter !== counter) {
        // OCSP identifies an issuer by name and key: of several CAs that share both, the newest represents all.
        const own = current.cas.filter((ca) => sameIssuer(current, ca)[0] === ca);
        named = {
          counter,
          authorities: own.map(({ record, certificate }) => ({
            id: record.id,
            name: certificate.subject.der,
            publicKey: readPublicKey(certificate.spki).bytes,
          })),
        };
      }
      return named.authorities;
    },

    async of(ca, serial) {
      if (serial.length === 0 || serial.length > longestSerial + 1) return { kind: 'unknown' };
      const current = await configuration.current();
      const loaded = current.ca(ca);
      const serialNumber = formatSerial(serial);
      let found: StoredCertificate | undefined;
      for (const { record } of loaded ? sameIssuer(current, loaded) : []) {
        found ??= await store.find('certificate', { ca: record.id, serialNumber });
      }
      switch (found?.status) {
        case 'good':
          return { kind: 'good' };
        case 'hold':
        case 'revoked':
          return { kind: 'revoked', at: found.revokedAt ?? clock.now(), reason: found.revocationReason };
        default:
          return { kind: 'unknown' };
      }
    },

    async responder(id) {
      const current = await configuration.current();
      const named = current.ca(id);
      if (!named?.record.key) throw new Fault('notFound', 'there is no such CA');
      const now = clock.now();
      const good = sameIssuer(current, named).filter(
        ({ certificate }) => !hasExpired(certificate.notAfter, now),
      );
      const ca = good.find(({ record }) => record.isActive) ?? good[0];
      if (!ca) throw new Fault('notFound', 'the CA has expired');
      const { certificate, record } = ca;
      const { key } = record;
      if (record.isActive) {
        const credential = await credentials.of(ca);
        return open(credential, () => ({
          certificate: credential.certificate,
          notAfter: credential.notValidAfter,
          ...speaker(
            parseCertificate(credential.certificate).spki,
            credential.key,
            credential.signatureSuite,
          ),
        }));
      }
      // An inactive CA cannot delegate, but the certificates that it issued are still in use: it signs with its own
      // key.
      return open(ca, () => ({
        certificate: undefined,
        notAfter: certificate.notAfter,
        ...speaker(certificate.spki, key!, defaultSignatureAlgorithm(readPublicKey(certificate.spki).type)),
      }));
    },
  };
}
