import { DerReader, readDer } from '../der/reader.ts';
import { tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import { type GeneralName, readGeneralNames } from './general-name.ts';
import { type Name, readName } from './name.ts';

/** ChangeSubjectName (RFC 6402 §2.8): the new subject, alternative names, or both, of a renewed certificate. */
export interface NameChange {
  readonly subject: Name | undefined;
  readonly subjectAltNames: readonly GeneralName[] | undefined;
}

/** Decodes the value of the attribute (DER). Faults: malformed; badCsr if it changes nothing. */
export function decodeNameChange(der: Uint8Array): NameChange {
  return readDer(der, (reader) => {
    const fields = reader.sequence();
    // Both are untagged SEQUENCEs. A Name contains only SETs; GeneralNames contain context tags.
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
