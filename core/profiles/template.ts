import type { Patterns } from '../ports/platform.ts';
import { attributeTypeNamed } from '../x509/attribute-type.ts';
import { commonName, type Name } from '../x509/name.ts';
import type { PublicKey } from '../x509/public-key.ts';
import type { VerifiedRequest } from '../x509/request.ts';
import type { Problems } from './problems.ts';

/** What a certificate is made for. */
export interface Device {
  readonly id: number;
  readonly commonName: string;
  readonly serialNumber: string;
}

/** Where templates take their values from. */
export interface Fields {
  /** Undefined where nobody but the service itself stands behind the request. */
  readonly device: Device | undefined;
  readonly domain: { readonly uniqueName: string };
  /**
   * What the subject rules have made of the request's subject; undefined before they have. A renewal, which asks for the outcome,
   * would else have another outcome.
   */
  readonly request: Name | undefined;
}

/** Constant templates need none of them. */
export const noFields: Fields = { device: undefined, domain: { uniqueName: '' }, request: undefined };

const serialNumberType = attributeTypeNamed('serialNumber')!.oid;

/** Of several the last. */
function serialNumber({ rdns }: Name): string | undefined {
  let serial: string | undefined;
  for (const rdn of rdns) for (const { type, value } of rdn) if (type === serialNumberType) serial = value;
  return serial;
}

/** Field → its value, and how a refusal calls what is missing. */
const fields = {
  'device.id': [({ device }: Fields) => device?.id.toString(), 'there is no device behind the request'],
  'device.common_name': [
    ({ device }: Fields) => device?.commonName,
    'there is no device with a common name behind the request',
  ],
  'device.serial_number': [
    ({ device }: Fields) => device?.serialNumber,
    'there is no device with a serial number behind the request',
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
/** Undefined or empty when there is none. */
export const fieldValue = (field: TemplateField, from: Fields): string | undefined => fields[field][0](from);
export const missingField = (field: TemplateField): string => fields[field][1];

/** Text with the values of fields in it. */
export interface Template {
  readonly text: string;
  /** It says the same whatever the fields are. */
  readonly constant: boolean;
  /** It speaks of the request. */
  readonly ofRequest: boolean;
  /** A plain value, never parsed again. Undefined when a field has none. */
  render(from: Fields): string | undefined;
  /** Why `render` gave nothing. */
  missing(from: Fields): string;
}

/**
 * A template, or in words what is wrong with it. `{device.common_name}` is a field, `{{` and `}}` are braces. `delimiters`:
 * characters that the value of a field beside other text may not have, because they would change what the parts around it mean.
 */
export function parseTemplate(text: string, delimiters?: RegExp): Template | string {
  const parts: (string | { readonly field: TemplateField })[] = [];
  for (const [piece] of text.matchAll(/\{\{|\}\}|\{[^{}]*\}|[{}]|[^{}]+/g)) {
    if (piece === '{' || piece === '}') return `a lone "${piece}": literal braces are doubled`;
    if (piece === '{{' || piece === '}}') {
      parts.push(piece[0]!);
    } else if (piece[0] === '{') {
      const field = piece.slice(1, -1);
      if (!isTemplateField(field)) return `no field ${piece.slice(0, 40)}; there are ${templateFieldList}`;
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
    return found && `the value of {${field}} has "${found}" in it`;
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

/** `text`: as it was written. */
export const constantTemplate = (value: string, text: string = value): Template => ({
  text,
  constant: true,
  ofRequest: false,
  render: () => value,
  missing: () => 'nothing is missing',
});

/** Why a value does not fit, in words that follow it; undefined when it does. */
export type Fits = (value: string, from: Fields) => string | undefined;

/** Where the compiler reports problems and finds the pattern engine. */
export interface Tools {
  readonly patterns: Patterns;
  readonly problems: Problems;
}

/** What a profile looks at in a request. Where the key is yet to be made, its octets are none. */
export interface ProfileRequest extends Pick<VerifiedRequest, 'subject' | 'extensions' | 'subjectAltNames'> {
  readonly publicKey: Pick<PublicKey, 'type' | 'spki' | 'bytes'>;
}
