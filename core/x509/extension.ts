import { type DerBuilder, der } from '../der/builder.ts';
import type { DerReader } from '../der/reader.ts';
import { tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';

export interface Extension {
  readonly oid: string;
  readonly critical: boolean;
  /** The value inside the OCTET STRING (DER). */
  readonly value: Uint8Array;
}

const mostExtensions = 64;

/** Consumes Extensions: 1 to 64, each at most once (RFC 5280 §4.2). Faults: malformed. */
export function readExtensions(reader: DerReader): Extension[] {
  const sequence = reader.sequence();
  const extensions: Extension[] = [];
  do {
    const read = readExtension(sequence.sequence());
    if (extensions.some((other) => other.oid === read.oid)) {
      throw new Fault('malformed', `extension ${read.oid} occurs twice`);
    }
    extensions.push(read);
    if (extensions.length > mostExtensions) throw new Fault('malformed', 'too many extensions');
  } while (!sequence.empty);
  return extensions;
}

function readExtension(reader: DerReader): Extension {
  const oid = reader.oid();
  // DER omits the default FALSE, but many devices in use were made with an explicit FALSE.
  const critical = reader.peek() === tag.boolean && reader.boolean();
  const value = reader.octetString();
  reader.finish();
  return { oid, critical, value };
}

/** Checks number and uniqueness of extensions as `readExtensions` does. Faults: malformed. */
export function demandDistinct(extensions: readonly Extension[]): void {
  if (extensions.length > mostExtensions) throw new Fault('malformed', 'too many extensions');
  for (let n = 1; n < extensions.length; n++) {
    const { oid } = extensions[n]!;
    for (let other = 0; other < n; other++) {
      if (extensions[other]!.oid === oid) throw new Fault('malformed', `extension ${oid} occurs twice`);
    }
  }
}

/** Encodings by the identity of the object, so that a modified copy never gets the encoding of the original. */
const encodings = new WeakMap<Extension, Uint8Array>();

/** Marks an extension that many certificates share, so that it is encoded once. It must not be modified afterwards. */
export function shared(extension: Extension): Extension {
  encodings.set(
    extension,
    der((b) => addExtension(b, extension)),
  );
  return extension;
}

export function addExtension(builder: DerBuilder, extension: Extension): void {
  const known = encodings.get(extension);
  if (known) {
    builder.raw(known);
    return;
  }
  const sequence = builder.begin(tag.sequence);
  builder.oid(extension.oid);
  if (extension.critical) builder.boolean(true);
  builder.octetString(extension.value);
  builder.end(sequence);
}

/** Adds the SEQUENCE of Extensions. It must not be empty. */
export function addExtensions(builder: DerBuilder, extensions: readonly Extension[]): void {
  const sequence = builder.begin(tag.sequence);
  for (const extension of extensions) addExtension(builder, extension);
  builder.end(sequence);
}
