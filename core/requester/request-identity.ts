import { hash } from 'node:crypto';
import { hex } from '../der/bytes.ts';
import type { KeyType } from '../x509/algorithm.ts';
import type { Extension } from '../x509/extension.ts';
import type { Name } from '../x509/name.ts';
import type { PublicKey } from '../x509/public-key.ts';
import type { Requester } from './requester.ts';

/** Returns the same key for requesters with the same credential: the device's secret, its IDevID's key, or one certificate. */
export function requesterKey({ credential, device, presented, onboarding }: Requester): string {
  if (presented) return `certificate:${presented.record.id}`;
  return `${credential} device:${device?.id}${onboarding ? ` key:${onboarding.key}` : ''}`;
}

/** The properties that identify a request, however often and in whatever encoding it is sent. */
export interface RequestIdentity {
  /** See `requesterKey` for devices and `accountKey` for accounts. */
  readonly requester: string;
  readonly protocol: string;
  /** `issuance`, `renewal`. */
  readonly operation: string;
  /** Ids. */
  readonly domain: number;
  readonly profile: number;
  /** The id of the certificate that is to be renewed. */
  readonly renews: number | null;
  /** The contents of the request. A key that is not made yet is represented by its type. */
  readonly subject: Name;
  readonly extensions: readonly Extension[];
  readonly key: Pick<PublicKey, 'spki'> | KeyType;
}

/**
 * Returns the SHA-256 (upper-case hex) that is equal exactly for the same request of the same requester. It does not cover the encoded
 * request, because ECDSA proofs of possession differ each time, and challenge passwords depend on the connection (RFC 7030 §3.5).
 */
export function requestDigest(identity: RequestIdentity): string {
  const { requester, protocol, operation, domain, profile, renews, subject, extensions, key } = identity;
  const wanted = typeof key === 'string' ? key : hex(key.spki);
  // JSON is unambiguous for lists of texts and numbers: different lists have different encodings.
  const members = [
    requester,
    protocol,
    operation,
    domain,
    profile,
    renews,
    hex(subject.der),
    extensions.map(({ oid, critical, value }) => [oid, critical, hex(value)]),
    wanted,
  ];
  return digest(members);
}

/** The properties that identify a revocation. */
export interface RevocationIdentity {
  readonly requester: string;
  readonly protocol: string;
  /** The id of the certificate. */
  readonly certificate: number;
  readonly reason: string;
  readonly invalidityDate: number | null;
}

/** Like `requestDigest`, and never equal to a digest of that function. */
export function revocationDigest(identity: RevocationIdentity): string {
  const { requester, protocol, certificate, reason, invalidityDate } = identity;
  return digest([requester, protocol, 'revocation', certificate, reason, invalidityDate]);
}

const digest = (members: readonly unknown[]): string =>
  hex(hash('sha256', JSON.stringify(members), 'buffer'));
