import { type DerBuilder, der } from '#core/der/builder.ts';
import { type DerReader, readDer } from '#core/der/reader.ts';
import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { readSequenceOf } from './sequence-of.ts';

/** A value whose type is an OID: InfoTypeAndValue, and the controls and regInfo of CRMF. */
export interface TypedValue {
  /** The OID of the type. */
  readonly type: string;
  /** One element (DER). */
  readonly value?: Uint8Array | undefined;
}

/** The encoding of the values of one OID. */
export interface ValueKind<T> {
  readonly oid: string;
  /** Consumes the value. Faults: malformed. */
  readonly read: (reader: DerReader) => T;
  readonly add: (builder: DerBuilder, value: T) => void;
}

export const typedValue = <T>(
  kind: ValueKind<T>,
  value: T,
): Required<TypedValue> & { value: Uint8Array } => ({
  type: kind.oid,
  value: der((b) => kind.add(b, value)),
});

/** Returns whether the list has an entry of this kind, with a value or, as in information requests, without. */
export const hasValue = (list: readonly TypedValue[], kind: Pick<ValueKind<never>, 'oid'>): boolean =>
  list.some(({ type }) => type === kind.oid);

/** Returns the value of this kind; undefined if it is absent or empty. Faults: malformed, also for two of them. */
export function findValue<T>(list: readonly TypedValue[], kind: ValueKind<T>): T | undefined {
  const found = list.filter(({ type }) => type === kind.oid);
  if (found.length > 1) throw new Fault('malformed', `CMP: ${kind.oid} occurs twice`);
  const value = found[0]?.value;
  return value && readDer(value, kind.read);
}

/** Consumes a typed value. Faults: malformed. */
export function readTypedValue(reader: DerReader): TypedValue {
  const sequence = reader.sequence();
  const type = sequence.oid();
  if (sequence.empty) return { type };
  const value = sequence.element();
  sequence.finish();
  return { type, value };
}

export function addTypedValue(builder: DerBuilder, { type, value }: TypedValue): void {
  builder.sequence((s) => {
    s.oid(type);
    if (value) s.raw(value);
  });
}

// Kinds of values with simple types, for the tables of kinds.

export const text = (oid: string): ValueKind<string> => ({
  oid,
  read: (reader) => reader.utf8String(),
  add: (b, value) => void b.string(value),
});

/** A SEQUENCE (DER) that is not decoded. */
export const encoded = (oid: string): ValueKind<Uint8Array> => ({
  oid,
  read: (reader) => reader.element(tag.sequence),
  add: (b, value) => void b.raw(value),
});

/** SEQUENCE SIZE (1..most) OF. */
export const listOf = <T>(member: ValueKind<T>, most: number): ValueKind<readonly T[]> => ({
  oid: member.oid,
  read: (reader) => readSequenceOf(reader, { least: 1, most }, member.read),
  add: (b, values) =>
    void b.sequence((s) => {
      for (const value of values) member.add(s, value);
    }),
});
