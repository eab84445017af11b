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

/** A CA that revokes here, as OCSP names it. */
export interface Authority {
  readonly id: number;
  /** Its subject, DER. */
  readonly name: Uint8Array;
  /** Contents of its public key's BIT STRING. */
  readonly publicKey: Uint8Array;
}

/** What everybody may know of a serial number; times in milliseconds since 1970. `certificateHold` may end. */
export type RevocationStatus =
  | { readonly kind: 'good' }
  | { readonly kind: 'revoked'; readonly at: number; readonly reason: RevocationReason | null }
  /** The CA has issued no certificate with it. */
  | { readonly kind: 'unknown' };

/** What speaks for a CA about revocation (RFC 6960 §4.2.2.2). */
export interface Responder {
  /** DER, issued by the CA itself; absent when the CA speaks with its own key. */
  readonly certificate: Uint8Array | undefined;
  /** Contents of its public key's BIT STRING. */
  readonly publicKey: Uint8Array;
  /** Milliseconds since 1970: nothing that it signs should be meant to hold for longer. */
  readonly notAfter: number;
  /** AlgorithmIdentifier, DER. */
  readonly algorithm: Uint8Array;
  /** X.509-ready: ECDSA in DER. Faults: unavailable. */
  sign(data: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** What a responder beside the CRLs needs, whatever protocol it speaks. For everybody: nothing here says who asks. */
export interface RevocationStatuses {
  /** The CAs whose key is here, active or not, one of each name and key. Cheap to ask again: the same array while nothing changed. */
  authorities(): Promise<readonly Authority[]>;
  /** As it is at this moment. `serial`: contents octets of the INTEGER. Faults: unavailable. */
  of(ca: number, serial: Uint8Array): Promise<RevocationStatus>;
  /** The same object for as long as it speaks. Faults: notFound (no CA of `authorities`, or expired), unavailable. */
  responder(ca: number): Promise<Responder>;
}

const day = 24 * 3_600_000;

/**
 * RFC 6960 §4.2.2.2: delegated by id-kp-OCSPSigning. Nobody asks whether a responder is revoked itself, so its certificate is good
 * for a week only (§4.2.2.2.1).
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

/** RFC 5280 §4.1.2.2: serial numbers have 20 octets at most; longer ones were never given. */
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
        // OCSP names an issuer by name and key: of several CAs that share both, the newest stands for all.
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
      if (!named?.record.key) throw new Fault('notFound', 'there is no such CA here');
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
      // A CA that is to issue nothing any more delegates to nobody either, and what it has issued is still in use.
      return open(ca, () => ({
        certificate: undefined,
        notAfter: certificate.notAfter,
        ...speaker(certificate.spki, key!, defaultSignatureAlgorithm(readPublicKey(certificate.spki).type)),
      }));
    },
  };
}
