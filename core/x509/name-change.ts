import { DerReader, readDer } from '../der/reader.ts';
import { tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import { type GeneralName, readGeneralNames } from './general-name.ts';
import { type Name, readName } from './name.ts';

/** ChangeSubjectName (RFC 6402 §2.8): the names that a renewed certificate is to have instead. One of them, or both. */
export interface NameChange {
  readonly subject: Name | undefined;
  readonly subjectAltNames: readonly GeneralName[] | undefined;
}

/** `der`: the value of the attribute. Faults: malformed; badCsr when it changes nothing. */
export function decodeNameChange(der: Uint8Array): NameChange {
  return readDer(der, (reader) => {
    const fields = reader.sequence();
    // Both are a SEQUENCE without a tag of its own: a Name holds sets or nothing, GeneralNames hold context tags.
    const subject = !fields.empty && holdsSets(fields.rest()) ? readName(fields) : undefined;
    const subjectAltNames = fields.empty ? undefined : readGeneralNames(fields);
    fields.finish();
    if (!subject && !subjectAltNames) throw new Fault('badCsr', 'ChangeSubjectName is empty');
    return { subject, subjectAltNames };
  });
}

function holdsSets(fields: Uint8Array): boolean {
  const first = new DerReader(fields).sequence();
  return first.empty || first.peek() === tag.set;
}
