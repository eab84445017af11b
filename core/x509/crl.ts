import { DerBuilder, der } from '../der/builder.ts';
import { sameBytes } from '../der/bytes.ts';
import { DerReader, readDer } from '../der/reader.ts';
import { contextConstructed, tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import {
  knownSignatureAlgorithm,
  type SignatureAlgorithm,
  signatureAlgorithmIdentifier,
} from './algorithm.ts';
import { addExtension, addExtensions, type Extension, readExtensions } from './extension.ts';
import { authorityKeyIdentifierExtension } from './extensions/identity.ts';
import {
  crlNumberExtension,
  decodeCrlNumber,
  decodeInvalidityDate,
  decodeReasonCode,
  invalidityDateExtension,
  type RevocationReason,
  reasonCodeExtension,
  revocationReasons,
} from './extensions/revocation.ts';
import { type Name, readName } from './name.ts';
import { oid } from './oids.ts';

export type { RevocationReason };

/** RFC 5280 §5.3. */
export interface RevokedEntry {
  /** Magnitude or contents octets of the INTEGER. Leading zero octets do not count. */
  readonly serial: Uint8Array;
  /** Milliseconds since 1970. */
  readonly revokedAt: number;
  readonly reason?: RevocationReason;
  /** Milliseconds since 1970. */
  readonly invalidityDate?: number;
}

export interface CrlTemplate {
  readonly signatureAlgorithm: SignatureAlgorithm;
  readonly issuer: Name;
  /** Milliseconds since 1970. */
  readonly thisUpdate: number;
  readonly nextUpdate: number;
  /** Greater than the number of every earlier CRL (RFC 5280 §5.2.3). */
  readonly number: bigint;
  /** The issuer's subject key identifier. */
  readonly authorityKeyIdentifier: Uint8Array;
  readonly revoked: Iterable<RevokedEntry> | AsyncIterable<RevokedEntry>;
}

/** A CRL without its signature. */
export interface UnsignedCrl {
  /** The TBSCertList of version 2 to be signed (DER). */
  readonly tbs: Uint8Array;
  /**
   * Returns the CRL (DER) as a view of a larger buffer. `signature`: as encoded in X.509 (ECDSA: DER). Call it only
   * once: it overwrites `tbs`.
   */
  signed(signature: Uint8Array): Uint8Array;
}

/**
 * Builds a CRL (RFC 5280 §5.1). To save memory, each entry is encoded once, at its final position; the header goes into
 * the room reserved before the entries.
 */
export async function buildCrl(template: CrlTemplate): Promise<UnsignedCrl> {
  const algorithm = signatureAlgorithmIdentifier(template.signatureAlgorithm);
  const head = der((b) => {
    b.integer(1).raw(algorithm).raw(template.issuer.der).time(template.thisUpdate).time(template.nextUpdate);
  });
  const builder = new DerBuilder();
  const room = head.length + 3 * longestHeader;
  builder.raw(new Uint8Array(room));
  for await (const entry of template.revoked) addEntry(builder, entry);
  const entries = builder.length - room;
  builder.explicit(0, (e) =>
    addExtensions(e, [
      authorityKeyIdentifierExtension(template.authorityKeyIdentifier),
      crlNumberExtension(template.number),
    ]),
  );
  const end = builder.length;
  const before = (start: number, bytes: Uint8Array): number => {
    builder.view().set(bytes, start - bytes.length);
    return start - bytes.length;
  };
  // RFC 5280 §5.1.2.6: revokedCertificates is absent if no certificate is revoked.
  let start = entries > 0 ? before(room, sequenceHeader(entries)) : room;
  start = before(start, head);
  start = before(start, sequenceHeader(end - start));
  return {
    tbs: builder.view().subarray(start, end),
    signed(signature) {
      builder.raw(algorithm).bitString(signature);
      return builder.view().subarray(before(start, sequenceHeader(builder.length - start)));
    },
  };
}

const longestHeader = 6;

/** Returns the identifier and length octets of a SEQUENCE. */
function sequenceHeader(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(tag.sequence, length);
  const octets: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 256)) octets.unshift(left % 256);
  return Uint8Array.of(tag.sequence, 0x80 | octets.length, ...octets);
}

const reasonExtensions = new Map(
  revocationReasons.map((reason) => [reason, der((b) => addExtension(b, reasonCodeExtension(reason)))]),
);

function addEntry(builder: DerBuilder, { serial, revokedAt, reason, invalidityDate }: RevokedEntry): void {
  // RFC 5280 §5.3.1: no reason code instead of `unspecified`.
  const reasonExtension = reason && reason !== 'unspecified' ? reasonExtensions.get(reason) : undefined;
  builder.sequence((entry) => {
    entry.unsigned(serial).time(revokedAt);
    if (!reasonExtension && invalidityDate === undefined) return;
    entry.sequence((extensions) => {
      if (reasonExtension) extensions.raw(reasonExtension);
      if (invalidityDate !== undefined) addExtension(extensions, invalidityDateExtension(invalidityDate));
    });
  });
}

export interface Crl {
  readonly der: Uint8Array;
  /** The signed part (DER). */
  readonly tbs: Uint8Array;
  /** Undefined if it is unknown or weak. */
  readonly signatureAlgorithm: SignatureAlgorithm | undefined;
  readonly signature: Uint8Array;
  readonly issuer: Name;
  /** Milliseconds since 1970. */
  readonly thisUpdate: number;
  readonly nextUpdate: number | undefined;
  readonly number: bigint | undefined;
  readonly extensions: readonly Extension[];
  /** The concatenated entries (DER), all of them checked. */
  readonly revoked: Uint8Array;
}

/**
 * Decodes a complete CRL (DER, RFC 5280 §5.1) that covers the certificates of its own issuer. Faults: malformed;
 * unsupported for unknown critical extensions, and for those of a delta, indirect or partial CRL.
 */
export function parseCrl(der: Uint8Array): Crl {
  return readDer(der, (reader) => {
    const list = reader.sequence();
    const tbs = list.element(tag.sequence);
    const algorithm = list.element(tag.sequence);
    const signature = list.bitStringBytes();
    list.finish();
    return { der, tbs, ...readDer(tbs, (r) => readTbs(r.sequence(), algorithm)), signature };
  });
}

function readTbs(tbs: DerReader, outerAlgorithm: Uint8Array): Omit<Crl, 'der' | 'tbs' | 'signature'> {
  const version = tbs.peek() === tag.integer ? tbs.smallInteger(1) : 0;
  const algorithm = tbs.element(tag.sequence);
  // RFC 5280 §5.1.1.2: both must be equal. Only the inner one is signed.
  if (!sameBytes(algorithm, outerAlgorithm))
    throw new Fault('malformed', 'the CRL names two different signature algorithms');
  const issuer = readName(tbs);
  const thisUpdate = tbs.time();
  const nextUpdate = isTime(tbs.peek()) ? tbs.time() : undefined;
  const revoked = tbs.peek() === tag.sequence ? tbs.contents(tag.sequence) : new Uint8Array(0);
  const extensions = version === 1 ? readCrlExtensions(tbs) : [];
  tbs.finish();
  // Read every entry once, so that a malformed entry cannot make a later search fail.
  for (const entries = new DerReader(revoked); !entries.empty; ) readEntry(entries.sequence());
  const number = extensions.find((one) => one.oid === oid.crlNumber);
  return {
    signatureAlgorithm: knownSignatureAlgorithm(algorithm),
    issuer,
    thisUpdate,
    nextUpdate,
    number: number && decodeCrlNumber(number.value),
    extensions,
    revoked,
  };
}

const isTime = (identifier: number): boolean =>
  identifier === tag.utcTime || identifier === tag.generalizedTime;

function readCrlExtensions(tbs: DerReader): readonly Extension[] {
  const explicit = tbs.optional(contextConstructed(0));
  if (!explicit) return [];
  const extensions = readExtensions(explicit);
  explicit.finish();
  refuseCritical(extensions, [oid.crlNumber, oid.authorityKeyIdentifier]);
  return extensions;
}

function refuseCritical(extensions: readonly Extension[], known: readonly string[]): void {
  for (const { oid: type, critical } of extensions) {
    if (critical && !known.includes(type)) {
      throw new Fault('unsupported', `CRL with the critical extension ${type}`);
    }
  }
}

function readEntry(entry: DerReader): RevokedEntry {
  const serial = entry.integerBytes();
  const revokedAt = entry.time();
  if (entry.empty) return { serial, revokedAt };
  const extensions = readExtensions(entry);
  entry.finish();
  refuseCritical(extensions, [oid.reasonCode, oid.invalidityDate]);
  const reason = extensions.find((one) => one.oid === oid.reasonCode);
  const invalidity = extensions.find((one) => one.oid === oid.invalidityDate);
  return {
    serial,
    revokedAt,
    ...(reason && { reason: decodeReasonCode(reason.value) }),
    ...(invalidity && { invalidityDate: decodeInvalidityDate(invalidity.value) }),
  };
}

export function* revokedEntries(crl: Crl): Generator<RevokedEntry, void, undefined> {
  for (const entries = new DerReader(crl.revoked); !entries.empty; ) yield readEntry(entries.sequence());
}

/** Returns the entry of a certificate. `serial`: contents octets of the INTEGER. The search is linear. */
export function findRevoked(crl: Crl, serial: Uint8Array): RevokedEntry | undefined {
  for (const entries = new DerReader(crl.revoked); !entries.empty; ) {
    const encoded = entries.element(tag.sequence);
    if (sameBytes(new DerReader(encoded).sequence().integerBytes(), serial)) {
      return readDer(encoded, (reader) => readEntry(reader.sequence()));
    }
  }
  return undefined;
}
