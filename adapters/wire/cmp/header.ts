import type { DerBuilder } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';
import { contextConstructed, tag } from '#core/der/tag.ts';
import { parseTime } from '#core/der/time.ts';
import { Fault } from '#core/fault.ts';
import { addGeneralName, type GeneralName, readGeneralName } from '#core/x509/general-name.ts';
import { addSequenceOf, readEncoded, readExplicit, readSequenceOf } from './sequence-of.ts';
import { addFreeText, readFreeText } from './status.ts';
import { addTypedValue, readTypedValue, type TypedValue } from './typed-value.ts';

/** PKIHeader (RFC 9810 §5.1.1). */
export interface PkiHeader {
  /** 2 (cmp2000) or 3 (cmp2021). Callers reject other values. */
  readonly pvno: number;
  readonly sender: GeneralName;
  readonly recipient: GeneralName;
  /** Milliseconds since 1970. */
  readonly messageTime?: number | undefined;
  /** AlgorithmIdentifier in DER. */
  readonly protectionAlg?: Uint8Array | undefined;
  readonly senderKID?: Uint8Array | undefined;
  readonly recipKID?: Uint8Array | undefined;
  readonly transactionID?: Uint8Array | undefined;
  readonly senderNonce?: Uint8Array | undefined;
  readonly recipNonce?: Uint8Array | undefined;
  readonly freeText?: readonly string[] | undefined;
  /** See `findValue` and `infoTypes`. */
  readonly generalInfo: readonly TypedValue[];
}

/** Octets. Clients send far less: nonces and transactionIDs have 16 octets, reference values are short names. */
const longestIdentifier = 512;
const mostInfos = 64;
/** Octets. Large enough for the original message that an RA may include (origPKIMessage). */
const longestGeneralInfo = 64 * 1024;

/** Consumes a PKIHeader. Faults: malformed. */
export function readHeader(reader: DerReader): PkiHeader {
  const header = reader.sequence();
  const pvno = header.smallInteger(255);
  const sender = readGeneralName(header);
  const recipient = readGeneralName(header);
  const messageTime = readExplicit(header, contextConstructed(0), readMessageTime);
  const protectionAlg = readExplicit(header, contextConstructed(1), readEncoded);
  const senderKID = readExplicit(header, contextConstructed(2), readIdentifier);
  const recipKID = readExplicit(header, contextConstructed(3), readIdentifier);
  const transactionID = readExplicit(header, contextConstructed(4), readIdentifier);
  const senderNonce = readExplicit(header, contextConstructed(5), readIdentifier);
  const recipNonce = readExplicit(header, contextConstructed(6), readIdentifier);
  const freeText = readExplicit(header, contextConstructed(7), readFreeText);
  const generalInfo = readExplicit(header, contextConstructed(8), readGeneralInfo) ?? [];
  header.finish();
  return {
    pvno,
    sender,
    recipient,
    messageTime,
    protectionAlg,
    senderKID,
    recipKID,
    transactionID,
    senderNonce,
    recipNonce,
    freeText,
    generalInfo,
  };
}

/**
 * Reads a time that may have a fraction of a second, unlike the times in certificates (X.690 §11.7: without trailing
 * zeros).
 */
function readMessageTime(reader: DerReader): number {
  const text = reader.asciiString(tag.generalizedTime);
  const fraction = /\.\d{0,8}[1-9](?=Z$)/.exec(text)?.[0] ?? '';
  return (
    parseTime(tag.generalizedTime, text.replace(fraction, '')) + Math.floor(Number(`0${fraction}`) * 1000)
  );
}

function readIdentifier(reader: DerReader): Uint8Array {
  const octets = reader.octetString();
  if (octets.length > longestIdentifier) throw new Fault('malformed', 'CMP: nonce or identifier too long');
  return octets;
}

function readGeneralInfo(reader: DerReader): TypedValue[] {
  if (reader.rest().length > longestGeneralInfo) throw new Fault('malformed', 'CMP: generalInfo too long');
  return readSequenceOf(reader, { least: 1, most: mostInfos }, readTypedValue);
}

/** Adds a PKIHeader. `protectionAlg`: AlgorithmIdentifier (DER). */
export function addHeader(
  builder: DerBuilder,
  header: Omit<PkiHeader, 'protectionAlg'>,
  protectionAlg: Uint8Array | undefined,
): void {
  builder.sequence((s) => {
    s.integer(header.pvno);
    addGeneralName(s, header.sender);
    addGeneralName(s, header.recipient);
    const { messageTime, freeText, generalInfo } = header;
    if (messageTime !== undefined) s.explicit(0, (b) => b.generalizedTime(messageTime));
    if (protectionAlg) s.explicit(1, protectionAlg);
    addIdentifier(s, 2, header.senderKID);
    addIdentifier(s, 3, header.recipKID);
    addIdentifier(s, 4, header.transactionID);
    addIdentifier(s, 5, header.senderNonce);
    addIdentifier(s, 6, header.recipNonce);
    if (freeText?.length) s.explicit(7, (b) => addFreeText(b, freeText));
    if (generalInfo.length > 0) s.explicit(8, (b) => addSequenceOf(b, generalInfo, addTypedValue));
  });
}

function addIdentifier(builder: DerBuilder, n: number, octets: Uint8Array | undefined): void {
  if (octets) builder.explicit(n, (b) => b.octetString(octets));
}
