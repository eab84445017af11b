import type { DerBuilder } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';
import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';

/** SIZE of a SEQUENCE OF. What ASN.1 leaves open to the top is bounded here. */
interface Size {
  readonly least: 0 | 1;
  readonly most: number;
}

/** Consumes a SEQUENCE OF (or what is implicitly tagged so), of which `read` consumes a member. Faults: malformed. */
export function readSequenceOf<T>(reader: DerReader, size: Size, read: (members: DerReader) => T): T[] {
  const members = reader.sequence();
  const values: T[] = [];
  while (!members.empty) {
    if (values.length === size.most) throw new Fault('malformed', `CMP: list of more than ${size.most}`);
    values.push(read(members));
  }
  if (values.length < size.least) throw new Fault('malformed', 'CMP: empty list');
  return values;
}

/** A SEQUENCE OF what `add` makes of each member. */
export function addSequenceOf<T>(
  builder: DerBuilder,
  values: readonly T[],
  add: (builder: DerBuilder, value: T) => void,
): void {
  builder.sequence((s) => {
    for (const value of values) add(s, value);
  });
}

/** `read` on all that stands under `[n] EXPLICIT`, or undefined when something else comes next. Faults: malformed. */
export function readExplicit<T>(
  reader: DerReader,
  identifier: number,
  read: (inner: DerReader) => T,
): T | undefined {
  const inner = reader.optional(identifier);
  if (!inner) return undefined;
  const value = read(inner);
  inner.finish();
  return value;
}

/** Consumes one SEQUENCE, not looked into: certificates, CRLs, algorithms. Faults: malformed. */
export const readEncoded = (reader: DerReader): Uint8Array => reader.element(tag.sequence);

export const addEncoded = (builder: DerBuilder, encoded: Uint8Array): void => void builder.raw(encoded);
