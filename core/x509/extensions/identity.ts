import { der } from '../../der/builder.ts';
import { DerReader, readDer } from '../../der/reader.ts';
import { context, contextConstructed, tag } from '../../der/tag.ts';
import type { Extension } from '../extension.ts';
import { addGeneralNames, type GeneralName, readGeneralNames } from '../general-name.ts';
import { oid } from '../oids.ts';

/** Builds subjectAltName (RFC 5280 §4.2.1.6). `critical`: for certificates with an empty subject. */
export function subjectAltNameExtension(names: readonly GeneralName[], critical = false): Extension {
  return { oid: oid.subjectAltName, critical, value: der((b) => addGeneralNames(b, names)) };
}

/** Decodes subjectAltName or issuerAltName. Faults: malformed. */
export function decodeSubjectAltName(value: Uint8Array): GeneralName[] {
  return readDer(value, (reader) => readGeneralNames(reader));
}

/** Builds subjectKeyIdentifier (RFC 5280 §4.2.1.2). */
export function subjectKeyIdentifierExtension(identifier: Uint8Array): Extension {
  return { oid: oid.subjectKeyIdentifier, critical: false, value: der((b) => b.octetString(identifier)) };
}

/** Faults: malformed. */
export function decodeSubjectKeyIdentifier(value: Uint8Array): Uint8Array {
  return readDer(value, (reader) => reader.octetString());
}

/** Returns the number of octets of a subject key identifier. Faults: malformed. */
export function subjectKeyIdentifierLength(value: Uint8Array): number {
  const reader = new DerReader(value);
  const length = reader.skipContents(tag.octetString);
  reader.finish();
  return length;
}

/** RFC 5280 §4.2.1.1. */
export interface AuthorityKeyIdentifier {
  readonly keyIdentifier?: Uint8Array;
  readonly issuer?: readonly GeneralName[];
  /** Contents octets of the INTEGER. */
  readonly serial?: Uint8Array;
}

/** Builds authorityKeyIdentifier with only the issuer's subject key identifier, as RFC 5280 requires. */
export function authorityKeyIdentifierExtension(keyIdentifier: Uint8Array): Extension {
  const value = der((b) => b.sequence((s) => s.octetString(keyIdentifier, context(0))));
  return { oid: oid.authorityKeyIdentifier, critical: false, value };
}

/** Faults: malformed. */
export function decodeAuthorityKeyIdentifier(value: Uint8Array): AuthorityKeyIdentifier {
  return readDer(value, (reader) => {
    const sequence = reader.sequence();
    const decoded = {
      ...(sequence.peek() === context(0) && { keyIdentifier: sequence.octetString(context(0)) }),
      ...(sequence.peek() === contextConstructed(1) && {
        issuer: readGeneralNames(sequence, contextConstructed(1)),
      }),
      ...(sequence.peek() === context(2) && { serial: sequence.shortIntegerBytes(context(2)) }),
    };
    sequence.finish();
    return decoded;
  });
}
