import { der } from '../../der/builder.ts';
import { readDer } from '../../der/reader.ts';
import { tag } from '../../der/tag.ts';
import { Fault } from '../../fault.ts';
import type { Extension } from '../extension.ts';
import { oid } from '../oids.ts';

/** RFC 5280 §5.3.1. */
export const revocationReasonCodes = {
  unspecified: 0,
  keyCompromise: 1,
  cACompromise: 2,
  affiliationChanged: 3,
  superseded: 4,
  cessationOfOperation: 5,
  certificateHold: 6,
  removeFromCRL: 8,
  privilegeWithdrawn: 9,
  aACompromise: 10,
} as const;

export type RevocationReason = keyof typeof revocationReasonCodes;

export const revocationReasons = Object.keys(revocationReasonCodes) as readonly RevocationReason[];

/** Builds cRLNumber (RFC 5280 §5.2.3) of at most 20 octets. */
export function crlNumberExtension(number: bigint): Extension {
  if (number < 0n || number >= 1n << 159n) throw new Fault('malformed', 'CRL number out of range');
  return { oid: oid.crlNumber, critical: false, value: der((b) => b.integer(number)) };
}

/** Faults: malformed. */
export function decodeCrlNumber(value: Uint8Array): bigint {
  return readDer(value, (reader) => {
    const octets = reader.integerBytes();
    if (octets.length > 20 || octets[0]! >= 0x80) throw new Fault('malformed', 'CRL number out of range');
    return octets.reduce((number, octet) => (number << 8n) | BigInt(octet), 0n);
  });
}

export function reasonCodeExtension(reason: RevocationReason): Extension {
  const value = der((b) => b.integer(revocationReasonCodes[reason], tag.enumerated));
  return { oid: oid.reasonCode, critical: false, value };
}

/** Faults: malformed. */
export function decodeReasonCode(value: Uint8Array): RevocationReason {
  const code = readDer(value, (reader) => reader.smallInteger(255, tag.enumerated));
  const reason = revocationReasons.find((known) => revocationReasonCodes[known] === code);
  if (!reason) throw new Fault('malformed', `unknown revocation reason ${code}`);
  return reason;
}

/** Builds invalidityDate (RFC 5280 §5.3.2). `milliseconds`: since 1970. */
export function invalidityDateExtension(milliseconds: number): Extension {
  return { oid: oid.invalidityDate, critical: false, value: der((b) => b.generalizedTime(milliseconds)) };
}

/** Returns milliseconds since 1970. Faults: malformed. */
export function decodeInvalidityDate(value: Uint8Array): number {
  return readDer(value, (reader) => reader.generalizedTime());
}
