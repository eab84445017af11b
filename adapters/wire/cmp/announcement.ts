import type { DerBuilder } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';
import { contextConstructed } from '#core/der/tag.ts';
import {
  addRevocationAnnouncement,
  type RevocationAnnouncement,
  readRevocationAnnouncement,
} from './revocation.ts';
import { addRootCaKeyUpdate, type RootCaKeyUpdate, readRootCaKeyUpdate } from './root-ca-key-update.ts';
import { addEncoded, addSequenceOf, readEncoded, readExplicit, readSequenceOf } from './sequence-of.ts';

/** What a CA makes known unasked (RFC 9810 §5.3.13 to §5.3.16); certificates and CRLs in DER. */
export type Announcement =
  | { readonly type: 'ckuann'; readonly version: 2; readonly update: Required<RootCaKeyUpdate> }
  | { readonly type: 'ckuann'; readonly version: 3; readonly update: RootCaKeyUpdate }
  | { readonly type: 'cann'; readonly certificate: Uint8Array }
  | ({ readonly type: 'rann' } & { readonly announcement: RevocationAnnouncement })
  | { readonly type: 'crlann'; readonly crls: readonly Uint8Array[] };

const mostCrls = 16;

/** Consumes the content of such a body. Faults: malformed. */
export function readAnnouncement(type: Announcement['type'], content: DerReader): Announcement {
  switch (type) {
    case 'ckuann':
      return readKeyUpdate(content);
    case 'cann':
      return { type, certificate: readEncoded(content) };
    case 'rann':
      return { type, announcement: readRevocationAnnouncement(content) };
    case 'crlann':
      return { type, crls: readSequenceOf(content, { least: 0, most: mostCrls }, readEncoded) };
  }
}

/** CAKeyUpdAnnContent: the sequence of RFC 4210, or under [0] what RFC 9810 added. */
function readKeyUpdate(content: DerReader): Announcement {
  const update = readExplicit(content, contextConstructed(0), readRootCaKeyUpdate);
  if (update) return { type: 'ckuann', version: 3, update };
  const sequence = content.sequence();
  const oldWithNew = readEncoded(sequence);
  const newWithOld = readEncoded(sequence);
  const newWithNew = readEncoded(sequence);
  sequence.finish();
  return { type: 'ckuann', version: 2, update: { newWithNew, newWithOld, oldWithNew } };
}

export function addAnnouncement(builder: DerBuilder, body: Announcement): void {
  switch (body.type) {
    case 'ckuann':
      addKeyUpdate(builder, body);
      break;
    case 'cann':
      addEncoded(builder, body.certificate);
      break;
    case 'rann':
      addRevocationAnnouncement(builder, body.announcement);
      break;
    case 'crlann':
      addSequenceOf(builder, body.crls, addEncoded);
  }
}

function addKeyUpdate(builder: DerBuilder, body: Announcement & { type: 'ckuann' }): void {
  if (body.version === 3) builder.explicit(0, (b) => addRootCaKeyUpdate(b, body.update));
  else {
    const { oldWithNew, newWithOld, newWithNew } = body.update;
    builder.sequence((s) => s.raw(oldWithNew).raw(newWithOld).raw(newWithNew));
  }
}
