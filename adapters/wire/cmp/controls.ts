import type { DerBuilder } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';
import { context, contextConstructed } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { addGeneralName, type GeneralName, readGeneralName } from '#core/x509/general-name.ts';
import { addEncryptedKey, type EncryptedKey, readEncryptedKey } from './encrypted-key.ts';
import { addCertId, readCertId } from './revocation.ts';
import { addSequenceOf, readExplicit, readSequenceOf } from './sequence-of.ts';
import { encoded, text, type ValueKind } from './typed-value.ts';

/** PKIPublicationInfo (RFC 4211 §6.3). */
interface PublicationInfo {
  readonly publish: boolean;
  readonly places: readonly {
    readonly method: (typeof publicationMethods)[number];
    readonly location?: GeneralName;
  }[];
}

/** PKIArchiveOptions (RFC 4211 §6.4). */
type ArchiveOptions =
  | { readonly kind: 'encryptedPrivKey'; readonly key: EncryptedKey }
  | { readonly kind: 'keyGenParameters'; readonly parameters: Uint8Array }
  | { readonly kind: 'archiveRemGenPrivKey'; readonly archive: boolean };

const control = (n: number): string => `1.3.6.1.5.5.7.5.1.${n}`;
const publicationMethods = ['dontCare', 'x500', 'web', 'ldap'] as const;
const mostPlaces = 16;
const mostRsaBits = 2 ** 16;

/** The controls of a certificate request (RFC 4211 §6, RFC 9810 §5.3.19.16). */
export const controlTypes = {
  regToken: text(control(1)),
  authenticator: text(control(2)),
  pkiPublicationInfo: { oid: control(3), read: readPublicationInfo, add: addPublicationInfo },
  pkiArchiveOptions: { oid: control(4), read: readArchiveOptions, add: addArchiveOptions },
  oldCertId: { oid: control(5), read: readCertId, add: addCertId },
  /** SubjectPublicKeyInfo in DER. */
  protocolEncrKey: encoded(control(6)),
  /** CertTemplate (DER), with the additional fields of RFC 4212. */
  altCertTemplate: encoded(control(7)),
  /** AlgorithmIdentifier in DER. */
  algId: encoded(control(11)),
  rsaKeyLen: {
    oid: control(12),
    read: (reader: DerReader) => reader.smallInteger(mostRsaBits),
    add: (b: DerBuilder, bits: number) => void b.integer(bits),
  } as ValueKind<number>,
} as const;

const regInfo = (n: number): string => `1.3.6.1.5.5.7.5.2.${n}`;

/** The regInfo of a certificate request (RFC 4211 §7). */
export const regInfoTypes = {
  utf8Pairs: text(regInfo(1)),
  /** CertRequest in DER. */
  certReq: encoded(regInfo(2)),
} as const;

function readPublicationInfo(reader: DerReader): PublicationInfo {
  const info = reader.sequence();
  const publish = info.smallInteger(1) === 1;
  const places = info.empty ? [] : readSequenceOf(info, { least: 1, most: mostPlaces }, readPlace);
  info.finish();
  return { publish, places };
}

/** Reads SinglePubInfo. */
function readPlace(reader: DerReader): PublicationInfo['places'][number] {
  const place = reader.sequence();
  const method = publicationMethods[place.smallInteger(publicationMethods.length - 1)]!;
  if (place.empty) return { method };
  const location = readGeneralName(place);
  place.finish();
  return { method, location };
}

function addPublicationInfo(b: DerBuilder, { publish, places }: PublicationInfo): void {
  b.sequence((s) => {
    s.integer(publish ? 1 : 0);
    if (places.length === 0) return;
    addSequenceOf(s, places, (list, { method, location }) => {
      list.sequence((place) => {
        place.integer(publicationMethods.indexOf(method));
        if (location) addGeneralName(place, location);
      });
    });
  });
}

function readArchiveOptions(reader: DerReader): ArchiveOptions {
  const key = readExplicit(reader, contextConstructed(0), readEncryptedKey);
  if (key) return { kind: 'encryptedPrivKey', key };
  switch (reader.peek()) {
    case context(1):
      return { kind: 'keyGenParameters', parameters: reader.octetString(context(1)) };
    case context(2):
      return { kind: 'archiveRemGenPrivKey', archive: reader.boolean(context(2)) };
    default:
      throw new Fault('malformed', 'CRMF: unknown archive option');
  }
}

function addArchiveOptions(b: DerBuilder, options: ArchiveOptions): void {
  if (options.kind === 'encryptedPrivKey') b.explicit(0, (inner) => addEncryptedKey(inner, options.key));
  else if (options.kind === 'keyGenParameters') b.octetString(options.parameters, context(1));
  else b.boolean(options.archive, context(2));
}
