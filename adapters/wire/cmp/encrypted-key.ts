import { type DerBuilder, der } from '#core/der/builder.ts';
import { type DerReader, readDer } from '#core/der/reader.ts';
import { contextConstructed, tag } from '#core/der/tag.ts';

/** EncryptedKey (RFC 4211 §2.1, RFC 9810 §5.2.2): EnvelopedData or the older EncryptedValue, each a SEQUENCE (DER). */
export interface EncryptedKey {
  readonly kind: 'envelopedData' | 'encryptedValue';
  readonly der: Uint8Array;
}

/** The tag is implicit: RFC 4211 is a module of IMPLICIT TAGS. */
const envelopedData = contextConstructed(0);

/** Consumes an EncryptedKey. Faults: malformed. */
export function readEncryptedKey(reader: DerReader): EncryptedKey {
  if (reader.peek() !== envelopedData) return { kind: 'encryptedValue', der: reader.element(tag.sequence) };
  const contents = reader.contents(envelopedData);
  return { kind: 'envelopedData', der: der((b) => b.sequence(contents)) };
}

export function addEncryptedKey(builder: DerBuilder, key: EncryptedKey): void {
  if (key.kind === 'encryptedValue') builder.raw(key.der);
  else
    builder.add(
      envelopedData,
      readDer(key.der, (reader) => reader.contents(tag.sequence)),
    );
}
