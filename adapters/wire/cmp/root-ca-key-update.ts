import type { DerBuilder } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';
import { contextConstructed } from '#core/der/tag.ts';
import { readEncoded, readExplicit } from './sequence-of.ts';

/** RootCaKeyUpdateContent (RFC 9810 §5.3.19.15), certificates in DER. */
export interface RootCaKeyUpdate {
  readonly newWithNew: Uint8Array;
  readonly newWithOld?: Uint8Array;
  readonly oldWithNew?: Uint8Array;
}

/** Consumes a RootCaKeyUpdateContent. Faults: malformed. */
export function readRootCaKeyUpdate(reader: DerReader): RootCaKeyUpdate {
  const content = reader.sequence();
  const newWithNew = readEncoded(content);
  const newWithOld = readExplicit(content, contextConstructed(0), readEncoded);
  const oldWithNew = readExplicit(content, contextConstructed(1), readEncoded);
  content.finish();
  return { newWithNew, ...(newWithOld && { newWithOld }), ...(oldWithNew && { oldWithNew }) };
}

export function addRootCaKeyUpdate(builder: DerBuilder, update: RootCaKeyUpdate): void {
  builder.sequence((s) => {
    s.raw(update.newWithNew);
    if (update.newWithOld) s.explicit(0, update.newWithOld);
    if (update.oldWithNew) s.explicit(1, update.oldWithNew);
  });
}
