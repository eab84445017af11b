import type { HttpRequest } from '../http/exchange.ts';
import { readJson } from '../http/json.ts';
import { HttpError, ValidationError } from './errors.ts';

/** The members of a body before validation: JSON values, or texts and files of a form. Repeated fields of a form are a list. */
export interface Body {
  readonly members: Readonly<Record<string, unknown>>;
  /** The members come from a form: the schema decides how to read their texts. */
  readonly isForm: boolean;
}

/** Larger than any form of this API. */
const maxFormFields = 200;

/**
 * Reads JSON, `application/x-www-form-urlencoded` or `multipart/form-data`. An empty body has no members. Throws ValidationError or
 * Fault `malformed` for an invalid body, HttpError 415 for another media type.
 */
export async function readBody({ headers, body }: HttpRequest): Promise<Body> {
  const contentType = headers['content-type'] ?? '';
  if (body.length === 0) return { members: {}, isForm: false };
  switch (contentType.split(';', 1)[0]!.trim().toLowerCase()) {
    case 'application/json':
      return { members: objectIn(body), isForm: false };
    case 'application/x-www-form-urlencoded':
    case 'multipart/form-data':
      return { members: await readForm(contentType, body), isForm: true };
    default:
      throw new HttpError(
        415,
        `the media type ${JSON.stringify(contentType.slice(0, 100))} is not supported`,
      );
  }
}

function objectIn(body: Uint8Array): Readonly<Record<string, unknown>> {
  const value = readJson(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ValidationError({ non_field_errors: ['an object is expected'] });
  }
  return value as Record<string, unknown>;
}

async function readForm(contentType: string, body: Uint8Array): Promise<Readonly<Record<string, unknown>>> {
  let form: Awaited<ReturnType<Response['formData']>>;
  try {
    form = await new Response(Uint8Array.from(body), { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw new ValidationError({ non_field_errors: ['the body does not match its Content-Type'] });
  }
  const members: Record<string, unknown> = Object.create(null);
  let count = 0;
  for (const [name, value] of form.entries()) {
    if (++count > maxFormFields) {
      throw new ValidationError({ non_field_errors: [`a form can have at most ${maxFormFields} fields`] });
    }
    const given = typeof value === 'string' ? value : new Uint8Array(await (value as Blob).arrayBuffer());
    const before = members[name];
    members[name] =
      before === undefined ? given : Array.isArray(before) ? [...before, given] : [before, given];
  }
  return members;
}
