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

/**
 * CAKeyUpdAnnContent (RFC 9810 §5.3.13): the form of RFC 4210 with all three certificates, or the form that CMP version
 * 3 added.
 */
export type CaKeyUpdate =
  | { readonly version: 2; readonly update: Required<RootCaKeyUpdate> }
  | { readonly version: 3; readonly update: RootCaKeyUpdate };

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

/** Consumes a CAKeyUpdAnnContent. Faults: malformed. */
export function readCaKeyUpdate(reader: DerReader): CaKeyUpdate {
  const update = readExplicit(reader, contextConstructed(0), readRootCaKeyUpdate);
  if (update) return { version: 3, update };
  const sequence = reader.sequence();
  const oldWithNew = readEncoded(sequence);
  const newWithOld = readEncoded(sequence);
  const newWithNew = readEncoded(sequence);
  sequence.finish();
  return { version: 2, update: { newWithNew, newWithOld, oldWithNew } };
}

export function addCaKeyUpdate(builder: DerBuilder, content: CaKeyUpdate): void {
  if (content.version === 3) builder.explicit(0, (b) => addRootCaKeyUpdate(b, content.update));
  else {
    const { oldWithNew, newWithOld, newWithNew } = content.update;
    builder.sequence((s) => s.raw(oldWithNew).raw(newWithOld).raw(newWithNew));
  }
}
