import type { DerBuilder } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';
import { addCaKeyUpdate, type CaKeyUpdate, readCaKeyUpdate } from './ca-key-update.ts';
import {
  addRevocationAnnouncement,
  type RevocationAnnouncement,
  readRevocationAnnouncement,
} from './revocation.ts';
import { addEncoded, addSequenceOf, readEncoded, readSequenceOf } from './sequence-of.ts';

/** An announcement by a CA (RFC 9810 §5.3.13 to §5.3.16). Certificates and CRLs are DER. */
export type Announcement =
  | ({ readonly type: 'ckuann' } & CaKeyUpdate)
  | { readonly type: 'cann'; readonly certificate: Uint8Array }
  | ({ readonly type: 'rann' } & RevocationAnnouncement)
  | { readonly type: 'crlann'; readonly crls: readonly Uint8Array[] };

const mostCrls = 16;

/** Consumes the content of an announcement body. Faults: malformed. */
export function readAnnouncement(type: Announcement['type'], content: DerReader): Announcement {
  switch (type) {
    case 'ckuann':
      return { type, ...readCaKeyUpdate(content) };
    case 'cann':
      return { type, certificate: readEncoded(content) };
    case 'rann':
      return { type, ...readRevocationAnnouncement(content) };
    case 'crlann':
      return { type, crls: readSequenceOf(content, { least: 0, most: mostCrls }, readEncoded) };
  }
}

export function addAnnouncement(builder: DerBuilder, body: Announcement): void {
  switch (body.type) {
    case 'ckuann':
      addCaKeyUpdate(builder, body);
      break;
    case 'cann':
      addEncoded(builder, body.certificate);
      break;
    case 'rann':
      addRevocationAnnouncement(builder, body);
      break;
    case 'crlann':
      addSequenceOf(builder, body.crls, addEncoded);
  }
}
