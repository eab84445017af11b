import type { HttpRequest } from '../http/exchange.ts';
import { HttpError, ValidationError } from './errors.ts';

/** A body's members before they are checked: JSON values, or the texts and files of a form. */
export interface Body {
  readonly members: Readonly<Record<string, unknown>>;
  /** The members are a form's: texts, whose meaning the schema decides. */
  readonly isForm: boolean;
}

const deepest = 32;

/** JSON, `application/x-www-form-urlencoded` or `multipart/form-data`; an empty body has no members. Errors: 400, 415. */
export async function readBody({ headers, body }: HttpRequest): Promise<Body> {
  const contentType = headers['content-type'] ?? '';
  if (body.length === 0) return { members: {}, isForm: false };
  switch (contentType.split(';', 1)[0]!.trim().toLowerCase()) {
    case 'application/json':
      return { members: readJson(body), isForm: false };
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

function readJson(body: Uint8Array): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    demandShallow(text);
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof ValidationError) throw error;
    throw new ValidationError({ non_field_errors: ['the body is not JSON in UTF-8'] });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ValidationError({ non_field_errors: ['an object is expected'] });
  }
  return value as Record<string, unknown>;
}

/** Counts brackets before anything is built from them; those inside strings do not count. */
function demandShallow(text: string): void {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (inString) {
      if (c === '\\') i++;
      else if (c === '"') inString = false;
    } else if (c === '"') inString = true;
    else if (c === '{' || c === '[') {
      if (++depth > deepest)
        throw new ValidationError({ non_field_errors: [`at most ${deepest} levels are allowed`] });
    } else if (c === '}' || c === ']') depth--;
  }
}

async function readForm(contentType: string, body: Uint8Array): Promise<Readonly<Record<string, unknown>>> {
  let form: Awaited<ReturnType<Response['formData']>>;
  try {
    form = await new Response(Uint8Array.from(body), { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw new ValidationError({ non_field_errors: ['the body is not the form that its media type says'] });
  }
  const members: Record<string, unknown> = Object.create(null);
  for (const [name, value] of form.entries()) {
    if (name in members) throw new ValidationError({ [name.slice(0, 100)]: ['given more than once'] });
    members[name] = typeof value === 'string' ? value : new Uint8Array(await (value as Blob).arrayBuffer());
  }
  return members;
}
