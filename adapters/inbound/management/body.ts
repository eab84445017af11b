import type { HttpRequest } from '../http/exchange.ts';
import { readJson } from '../http/json.ts';
import { HttpError, ValidationError } from './errors.ts';

/** A body's members before they are checked: JSON values, or the texts and files of a form, in a list where one comes repeatedly. */
export interface Body {
  readonly members: Readonly<Record<string, unknown>>;
  /** The members are a form's: texts, whose meaning the schema decides. */
  readonly isForm: boolean;
}

/** More fields than any form of this API has. */
const mostFormFields = 200;

/** JSON, `application/x-www-form-urlencoded` or `multipart/form-data`; an empty body has no members. Errors: 400, 415. */
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
    if (++count > mostFormFields) {
      throw new ValidationError({ non_field_errors: [`a form can have at most ${mostFormFields} fields`] });
    }
    const given = typeof value === 'string' ? value : new Uint8Array(await (value as Blob).arrayBuffer());
    const before = members[name];
    members[name] =
      before === undefined ? given : Array.isArray(before) ? [...before, given] : [before, given];
  }
  return members;
}
