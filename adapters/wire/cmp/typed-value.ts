import { type DerBuilder, der } from '#core/der/builder.ts';
import { type DerReader, readDer } from '#core/der/reader.ts';
import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { readSequenceOf } from './sequence-of.ts';

/** A value that an OID announces: InfoTypeAndValue, and the controls and regInfo of CRMF. */
export interface TypedValue {
  /** OID. */
  readonly type: string;
  /** One element in DER. */
  readonly value?: Uint8Array | undefined;
}

/** What stands behind one of those OIDs. */
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

/** Whether there is one of this kind, with a value or without, as requests for information have it. */
export const hasValue = (list: readonly TypedValue[], kind: Pick<ValueKind<never>, 'oid'>): boolean =>
  list.some(({ type }) => type === kind.oid);

/** The value of this kind; undefined when there is none, or it is empty. Faults: malformed, also when there are two. */
export function findValue<T>(list: readonly TypedValue[], kind: ValueKind<T>): T | undefined {
  const found = list.filter(({ type }) => type === kind.oid);
  if (found.length > 1) throw new Fault('malformed', `CMP: ${kind.oid} occurs twice`);
  const value = found[0]?.value;
  return value && readDer(value, kind.read);
}

/** Consumes one. Faults: malformed. */
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

// Values of simple types, for the tables of kinds.

export const text = (oid: string): ValueKind<string> => ({
  oid,
  read: (reader) => reader.utf8String(),
  add: (b, value) => void b.string(value),
});

/** One SEQUENCE in DER, not looked into. */
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
