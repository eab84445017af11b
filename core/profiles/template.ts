import type { Patterns } from '../ports/platform.ts';
import { attributeTypeNamed } from '../x509/attribute-type.ts';
import { commonName, type Name } from '../x509/name.ts';
import type { PublicKey } from '../x509/public-key.ts';
import type { VerifiedRequest } from '../x509/request.ts';
import type { Problems } from './problems.ts';

/** The device for which a certificate is issued. */
export interface Device {
  readonly id: number;
  readonly commonName: string;
  readonly serialNumber: string;
}

/** The source of the values in templates. */
export interface Fields {
  /** Undefined if the service itself is the requester. */
  readonly device: Device | undefined;
  readonly domain: { readonly uniqueName: string };
  /**
   * The subject as the subject rules built it; undefined before that. If templates used the requested subject instead,
   * a renewal, which requests the outcome, would have another outcome.
   */
  readonly request: Name | undefined;
}

/** For constant templates, which use no fields. */
export const noFields: Fields = { device: undefined, domain: { uniqueName: '' }, request: undefined };

const serialNumberType = attributeTypeNamed('serialNumber')!.oid;

/** Returns the last serial number of a name. */
function serialNumber({ rdns }: Name): string | undefined {
  let serial: string | undefined;
  for (const rdn of rdns) for (const { type, value } of rdn) if (type === serialNumberType) serial = value;
  return serial;
}

/** Field → its value, and the reason for a missing value. */
const fields = {
  'device.id': [({ device }: Fields) => device?.id.toString(), 'the requester is not a device'],
  'device.common_name': [
    ({ device }: Fields) => device?.commonName,
    'the requester is not a device with a common name',
  ],
  'device.serial_number': [
    ({ device }: Fields) => device?.serialNumber,
    'the requester is not a device with a serial number',
  ],
  'domain.unique_name': [({ domain }: Fields) => domain.uniqueName, 'the domain has no name'],
  'request.common_name': [
    ({ request }: Fields) => request && commonName(request),
    'the request has no common name',
  ],
  'request.serial_number': [
    ({ request }: Fields) => request && serialNumber(request),
    'the request has no serial number',
  ],
} as const;

export type TemplateField = keyof typeof fields;

export const isTemplateField = (name: string): name is TemplateField => Object.hasOwn(fields, name);
export const templateFieldList = Object.keys(fields)
  .map((field) => `{${field}}`)
  .join(', ');
/** Returns undefined or empty text if the field has no value. */
export const fieldValue = (field: TemplateField, from: Fields): string | undefined => fields[field][0](from);
export const missingField = (field: TemplateField): string => fields[field][1];

/** Text with the values of fields in it. */
export interface Template {
  readonly text: string;
  /** Whether the text contains no fields. */
  readonly constant: boolean;
  /** Whether the text uses fields of the request. */
  readonly ofRequest: boolean;
  /** Returns the plain text, which is never parsed again; undefined if a field has no value. */
  render(from: Fields): string | undefined;
  /** Returns why `render` returned undefined. */
  missing(from: Fields): string;
}

/**
 * Parses a template, or returns the error. `{device.common_name}` is a field, `{{` and `}}` are braces. `delimiters`:
 * characters that the value of a field next to other text must not contain, because they would change the meaning of
 * the text around it.
 */
export function parseTemplate(text: string, delimiters?: RegExp): Template | string {
  const parts: (string | { readonly field: TemplateField })[] = [];
  for (const [piece] of text.matchAll(/\{\{|\}\}|\{[^{}]*\}|[{}]|[^{}]+/g)) {
    if (piece === '{' || piece === '}')
      return `a lone "${piece}": write "${piece}${piece}" for a literal brace`;
    if (piece === '{{' || piece === '}}') {
      parts.push(piece[0]!);
    } else if (piece[0] === '{') {
      const field = piece.slice(1, -1);
      if (!isTemplateField(field)) return `no field ${piece.slice(0, 40)}; use one of ${templateFieldList}`;
      parts.push({ field });
    } else {
      parts.push(piece);
    }
  }
  const used = parts.flatMap((part) => (typeof part === 'string' ? [] : [part.field]));
  if (used.length === 0) return constantTemplate(parts.join(''), text);
  const stray = parts.length > 1 ? delimiters : undefined;
  const whyNone = (field: TemplateField, from: Fields): string | undefined => {
    const value = fieldValue(field, from);
    if (!value) return missingField(field);
    const found = stray?.exec(value)?.[0];
    return found && `the value of {${field}} contains "${found}"`;
  };
  const render = (from: Fields): string | undefined => {
    let value = '';
    for (const part of parts) {
      if (typeof part !== 'string' && whyNone(part.field, from)) return undefined;
      value += typeof part === 'string' ? part : fieldValue(part.field, from);
    }
    return value;
  };
  return {
    text,
    constant: false,
    ofRequest: used.some((one) => one.startsWith('request.')),
    render,
    missing: (from) => {
      for (const field of used) {
        const why = whyNone(field, from);
        if (why) return why;
      }
      return 'nothing is missing';
    },
  };
}

/** `text`: the template as it was written. */
export const constantTemplate = (value: string, text: string = value): Template => ({
  text,
  constant: true,
  ofRequest: false,
  render: () => value,
  missing: () => 'nothing is missing',
});

/** Returns why a value does not fit, as a phrase that follows the value, or undefined. */
export type Fits = (value: string, from: Fields) => string | undefined;

/** Where the compiler reports problems and finds the pattern engine. */
export interface Tools {
  readonly patterns: Patterns;
  readonly problems: Problems;
}

/** The parts of a request that a profile uses. If Postern generates the key later, the key has no octets yet. */
export interface ProfileRequest extends Pick<VerifiedRequest, 'subject' | 'extensions' | 'subjectAltNames'> {
  readonly publicKey: Pick<PublicKey, 'type' | 'spki' | 'bytes'>;
}
