import type { DerBuilder } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';
import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { addSequenceOf, readSequenceOf } from './sequence-of.ts';

/** PKIStatus (RFC 9810 §5.2.3) in the order of its numbers. */
export const pkiStatuses = [
  'accepted',
  'grantedWithMods',
  'rejection',
  'waiting',
  'revocationWarning',
  'revocationNotification',
  'keyUpdateWarning',
] as const;

export type PkiStatus = (typeof pkiStatuses)[number];

/** The bits of PKIFailureInfo (RFC 9810 §5.2.3) in their order. */
export const failures = [
  'badAlg',
  'badMessageCheck',
  'badRequest',
  'badTime',
  'badCertId',
  'badDataFormat',
  'wrongAuthority',
  'incorrectData',
  'missingTimeStamp',
  'badPOP',
  'certRevoked',
  'certConfirmed',
  'wrongIntegrity',
  'badRecipientNonce',
  'timeNotAvailable',
  'unacceptedPolicy',
  'unacceptedExtension',
  'addInfoNotAvailable',
  'badSenderNonce',
  'badCertTemplate',
  'signerNotTrusted',
  'transactionIdInUse',
  'unsupportedVersion',
  'notAuthorized',
  'systemUnavail',
  'systemFailure',
  'duplicateCertReq',
] as const;

export type Failure = (typeof failures)[number];

export interface PkiStatusInfo {
  readonly status: PkiStatus;
  /** Text for people. */
  readonly statusString?: readonly string[] | undefined;
  readonly failInfo?: readonly Failure[] | undefined;
}

const mostTexts = 32;

/** Consumes PKIFreeText. Faults: malformed. */
export const readFreeText = (reader: DerReader): string[] =>
  readSequenceOf(reader, { least: 1, most: mostTexts }, (texts) => texts.utf8String());

export const addFreeText = (builder: DerBuilder, texts: readonly string[]): void =>
  addSequenceOf(builder, texts, (b, text) => b.string(text));

/** Consumes a PKIStatus. Faults: malformed, also for unassigned numbers. */
export function readPkiStatus(reader: DerReader): PkiStatus {
  return pkiStatuses[reader.smallInteger(pkiStatuses.length - 1)]!;
}

export const addPkiStatus = (builder: DerBuilder, status: PkiStatus): void =>
  void builder.integer(pkiStatuses.indexOf(status));

/** Consumes a PKIStatusInfo. Faults: malformed. */
export function readPkiStatusInfo(reader: DerReader): PkiStatusInfo {
  const info = reader.sequence();
  const status = readPkiStatus(info);
  const statusString = info.peek() === tag.sequence ? readFreeText(info) : undefined;
  const failInfo = info.peek() === tag.bitString ? readFailInfo(info) : undefined;
  info.finish();
  return { status, ...(statusString && { statusString }), ...(failInfo && { failInfo }) };
}

function readFailInfo(reader: DerReader): Failure[] {
  const { bytes, unused } = reader.bitString();
  const bits = bytes.length * 8 - unused;
  // X.690 §11.2.2: the last encoded bit must be set.
  if (bits > 0 && (bytes[bytes.length - 1]! & (1 << unused)) === 0) {
    throw new Fault('malformed', 'CMP: failInfo with trailing zero bits');
  }
  if (bits > failures.length) throw new Fault('malformed', 'CMP: failInfo with unknown bits');
  return failures.filter((_, bit) => bit < bits && (bytes[bit >> 3]! & (0x80 >> (bit & 7))) !== 0);
}

export function addPkiStatusInfo(builder: DerBuilder, info: PkiStatusInfo): void {
  builder.sequence((s) => {
    addPkiStatus(s, info.status);
    if (info.statusString?.length) addFreeText(s, info.statusString);
    const { failInfo } = info;
    if (failInfo) s.namedBits(failures.map((failure) => failInfo.includes(failure)));
  });
}
