import { type DerBuilder, der } from '#core/der/builder.ts';
import { DerReader, readDer } from '#core/der/reader.ts';
import { contextConstructed, tag } from '#core/der/tag.ts';
import { addPkiBody, type BodyType, bodyTypeOf, type PkiBody, parsePkiBody } from './body.ts';
import { addHeader, type PkiHeader, readHeader } from './header.ts';
import { addEncoded, addSequenceOf, readEncoded, readExplicit, readSequenceOf } from './sequence-of.ts';

/** A PKIMessage with an undecoded body: enough to check the protection, or to respond to a malformed body. */
export interface SealedPkiMessage {
  readonly der: Uint8Array;
  readonly headerDer: Uint8Array;
  readonly bodyDer: Uint8Array;
  readonly header: PkiHeader;
  readonly bodyType: BodyType;
  /** The contents of PKIProtection. */
  readonly protection?: Uint8Array | undefined;
  /** In the order of the message. Each is a SEQUENCE (DER) that has not been decoded. */
  readonly extraCerts: readonly Uint8Array[];
  /** Returns the ProtectedPart (DER, RFC 9810 §5.1.3) with header and body as received. */
  protectedPart(): Uint8Array;
}

/** PKIMessage (RFC 9810 §5.1). */
export interface PkiMessage extends SealedPkiMessage {
  readonly body: PkiBody;
}

/** Computes the protection of a message. */
export interface Protector {
  /** The AlgorithmIdentifier (DER) for protectionAlg in the header. */
  readonly algorithm: Uint8Array;
  /** Returns the contents of PKIProtection for a ProtectedPart (DER). */
  protect(protectedPart: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

const mostExtraCerts = 32;

/**
 * Decodes header, protection and extraCerts of a PKIMessage (DER), and only the type of its body. Faults: malformed.
 */
export function openPkiMessage(message: Uint8Array): SealedPkiMessage {
  return readDer(message, (reader) => {
    const fields = reader.sequence();
    const headerDer = readEncoded(fields);
    const bodyDer = fields.element();
    const protection = readExplicit(fields, contextConstructed(0), (r) => r.bitStringBytes());
    const extraCerts = readExplicit(fields, contextConstructed(1), readExtraCerts) ?? [];
    fields.finish();
    const header = readDer(headerDer, readHeader);
    const bodyType = bodyTypeOf(bodyDer);
    const protectedPart = (): Uint8Array => der((b) => b.sequence((s) => s.raw(headerDer).raw(bodyDer)));
    return { der: message, headerDer, bodyDer, header, bodyType, protection, extraCerts, protectedPart };
  });
}

const readExtraCerts = (reader: DerReader): Uint8Array[] =>
  readSequenceOf(reader, { least: 1, most: mostExtraCerts }, readEncoded);

/** Decodes a PKIMessage (DER, RFC 9810 §5.1) without checking its protection. Faults: malformed. */
export function parsePkiMessage(message: Uint8Array): PkiMessage {
  const opened = openPkiMessage(message);
  return { ...opened, body: parsePkiBody(opened.bodyDer) };
}

/** Builds a PKIMessage (DER). The protector determines protectionAlg in the header. */
export async function buildPkiMessage(
  header: Omit<PkiHeader, 'protectionAlg'>,
  body: PkiBody,
  options: { readonly protector?: Protector | undefined; readonly extraCerts?: readonly Uint8Array[] } = {},
): Promise<Uint8Array> {
  const { protector, extraCerts = [] } = options;
  const protectedPart = der((b) =>
    b.sequence((s) => {
      addHeader(s, header, protector?.algorithm);
      addPkiBody(s, body);
    }),
  );
  const protection = await protector?.protect(protectedPart);
  const headerAndBody = contentsOf(protectedPart);
  return der((b) =>
    b.sequence((message) => {
      message.raw(headerAndBody);
      if (protection) message.explicit(0, (p) => p.bitString(protection));
      if (extraCerts.length > 0) addExtraCerts(message, extraCerts);
    }),
  );
}

/** Adds extraCerts, which the protection does not cover, to a PKIMessage (DER) without them. Faults: malformed. */
export function withExtraCerts(message: Uint8Array, extraCerts: readonly Uint8Array[]): Uint8Array {
  if (extraCerts.length === 0) return message;
  return der((b) => b.sequence((s) => addExtraCerts(s.raw(contentsOf(message)), extraCerts)));
}

const addExtraCerts = (message: DerBuilder, extraCerts: readonly Uint8Array[]): void =>
  void message.explicit(1, (list) => addSequenceOf(list, extraCerts, addEncoded));

const contentsOf = (sequence: Uint8Array): Uint8Array => new DerReader(sequence).contents(tag.sequence);
