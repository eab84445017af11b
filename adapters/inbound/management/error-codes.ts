import type { FaultValues } from '#core/fault.ts';

/** The code of each field with errors. */
export type FieldCodes = Readonly<Record<string, string>>;

const statusCodes: Readonly<Record<number, string>> = {
  400: 'malformed',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  413: 'content_too_large',
  414: 'uri_too_long',
  415: 'unsupported_media_type',
  417: 'expectation_failed',
  431: 'header_too_large',
  501: 'method_not_implemented',
  503: 'unavailable',
};

/** Returns the code of an error that only its HTTP status describes. */
export const codeOfStatus = (status: number): string => statusCodes[status] ?? 'internal';

/** Field names allowed in the header. Others are unknown fields, whose names the client chose. */
const fieldName = /^[a-z][a-z0-9_]*$/;

/**
 * Returns the value of the Error-Codes header: a Dictionary (RFC 9651 §3.2) from field name to code, with the integers among
 * `values` as parameters. The body `{field: [message, …]}` has no room for codes.
 */
export function errorCodes(fields: readonly string[], codes: FieldCodes, values: FaultValues = {}): string {
  const parameters = Object.entries(values)
    .filter(([, value]) => Number.isInteger(value))
    .map(([name, value]) => `;${name}=${value}`)
    .join('');
  return fields
    .filter((name) => fieldName.test(name))
    .map((name) => `${name}=${codes[name] ?? 'invalid'}${parameters}`)
    .join(', ');
}
