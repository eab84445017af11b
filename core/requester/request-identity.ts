import { hash } from 'node:crypto';
import { hex } from '../der/bytes.ts';
import type { KeyType } from '../x509/algorithm.ts';
import type { Extension } from '../x509/extension.ts';
import type { Name } from '../x509/name.ts';
import type { PublicKey } from '../x509/public-key.ts';
import type { Requester } from './requester.ts';

/** The same for two requesters that showed the same credential: the device's secret, its IDevID's key, or one certificate. */
export function requesterKey({ credential, device, presented, onboarding }: Requester): string {
  if (presented) return `certificate:${presented.record.id}`;
  return `${credential} device:${device?.id}${onboarding ? ` key:${onboarding.key}` : ''}`;
}

/** What makes a request the same as another one, however often and in whatever bytes it is sent. */
export interface RequestIdentity {
  /** Who asks, see `requesterKey`: the same for the same credential. */
  readonly requester: string;
  readonly protocol: string;
  /** `issuance`, `renewal`. */
  readonly operation: string;
  /** Ids. */
  readonly domain: number;
  readonly profile: number;
  /** The id of the certificate that is to be renewed. */
  readonly renews: number | null;
  /** What of the request counts. A key that is yet to be made here is told by its type. */
  readonly subject: Name;
  readonly extensions: readonly Extension[];
  readonly key: Pick<PublicKey, 'spki'> | KeyType;
}

/**
 * SHA-256, 64 digits of upper-case hex: equal for the same request from the same requester, and for no other. It is not taken
 * over the request as it came: proofs of possession with ECDSA differ from one try to the next, and challenge passwords bind a
 * request to its connection (RFC 7030 §3.5).
 */
export function requestDigest(identity: RequestIdentity): string {
  const { requester, protocol, operation, domain, profile, renews, subject, extensions, key } = identity;
  const wanted = typeof key === 'string' ? key : hex(key.spki);
  // A list of text and numbers can be written in JSON in one way only, and two lists never alike.
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

/** What makes a revocation the same as another one. */
export interface RevocationIdentity {
  readonly requester: string;
  readonly protocol: string;
  /** The id of the certificate. */
  readonly certificate: number;
  readonly reason: string;
  readonly invalidityDate: number | null;
}

/** As `requestDigest`, and never the same as one of those. */
export function revocationDigest(identity: RevocationIdentity): string {
  const { requester, protocol, certificate, reason, invalidityDate } = identity;
  return digest([requester, protocol, 'revocation', certificate, reason, invalidityDate]);
}

const digest = (members: readonly unknown[]): string =>
  hex(hash('sha256', JSON.stringify(members), 'buffer'));
