import { tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import { attributeTypeOf } from './attribute-type.ts';
import { holdsString, stringTags } from './directory-string.ts';
import type { Extension } from './extension.ts';
import type { GeneralName } from './general-name.ts';
import { isSorted, type Name } from './name.ts';
import { oid } from './oids.ts';

interface Requested {
  readonly subject: Name;
  readonly subjectAltNames: readonly GeneralName[];
  readonly extensions: readonly Extension[];
}

const bad = (detail: string): Fault => new Fault('badCsr', detail);

/**
 * Rejects encodings that Postern can read but must not copy to a certificate, which has to be DER. Trust anchors and
 * certificates of peers are read without these checks, because other software wrote them. Faults: badCsr.
 */
export function demandForm({ subject, subjectAltNames, extensions }: Requested): void {
  demandNameForm(subject, 'subject');
  for (const name of subjectAltNames) {
    if (name.kind === 'directory') demandNameForm(name.value, 'subjectAltName');
  }
  for (const { oid: type, value } of extensions) {
    if (type === oid.keyUsage && hasTrailingZeroBits(value)) {
      throw bad('keyUsage: DER does not allow trailing zero bits (X.690 §11.2.2)');
    }
    if (type === oid.basicConstraints && hasFalse(value)) {
      throw bad(
        'basicConstraints: DER does not allow an explicit cA FALSE, which is the default (X.690 §11.5)',
      );
    }
  }
}

function demandNameForm(name: Name, where: string): void {
  for (const rdn of name.rdns) {
    for (const { type, value, tag: identifier } of rdn) {
      if (stringTags.has(identifier) && !holdsString(value, identifier)) {
        const which = attributeTypeOf(type)?.name ?? type;
        throw bad(`${where}: ${which} has characters that its string type ${stringTypes[identifier]} lacks`);
      }
    }
  }
  if (!isSorted(name)) throw bad(`${where}: the attributes of an RDN are not sorted (X.690 §11.6)`);
}

const stringTypes: Readonly<Record<number, string>> = {
  [tag.utf8String]: 'UTF8String',
  [tag.numericString]: 'NumericString',
  [tag.printableString]: 'PrintableString',
  [tag.teletexString]: 'TeletexString',
  [tag.ia5String]: 'IA5String',
  [tag.visibleString]: 'VisibleString',
  [tag.universalString]: 'UniversalString',
  [tag.bmpString]: 'BMPString',
};

/** `value`: a BIT STRING. Decoding checks later that it is one. */
function hasTrailingZeroBits(value: Uint8Array): boolean {
  const unused = value[2] ?? 0;
  const last = value.length > 3 ? value[value.length - 1] : undefined;
  return last !== undefined && (last & (1 << unused)) === 0;
}

/** `value`: BasicConstraints. Decoding checks later that it is one. */
const hasFalse = (value: Uint8Array): boolean => value[2] === tag.boolean && value[4] === 0;
