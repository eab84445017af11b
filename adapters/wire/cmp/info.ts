import type { DerBuilder } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';

/** InfoTypeAndValue (RFC 9810 §5.3.19); `info-types.ts` knows what the values of the types are. */
export interface InfoTypeAndValue {
  /** OID. */
  readonly type: string;
  /** One element in DER. */
  readonly value?: Uint8Array | undefined;
}

export const mostInfos = 64;

/** Consumes an InfoTypeAndValue. Faults: malformed. */
export function readInfo(reader: DerReader): InfoTypeAndValue {
  const info = reader.sequence();
  const type = info.oid();
  if (info.empty) return { type };
  const value = info.element();
  info.finish();
  return { type, value };
}

export function addInfo(builder: DerBuilder, { type, value }: InfoTypeAndValue): void {
  builder.sequence((s) => {
    s.oid(type);
    if (value) s.raw(value);
  });
}
