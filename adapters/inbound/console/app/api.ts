import { signal } from '@preact/signals';
import { type ErrorValues, germanError, germanFieldErrors } from './error-words.ts';
import { language } from './language.ts';

/** Messages by field; `non_field_errors` where no field is at fault. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** An answer other than one of success. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** As JSON; undefined where it was none. */
  readonly body: unknown;
  readonly fields: FieldErrors;
  readonly hint: string | undefined;
  /** Seconds after which another try makes sense. */
  readonly retryAfter: number | undefined;

  /** `errorCodes`: the header Error-Codes. */
  constructor(
    status: number,
    body: unknown,
    retryAfter: number | undefined,
    errorCodes: string | null = null,
  ) {
    const members = isObject(body) ? body : {};
    const said = [members.detail, members.error, members.error_description].find(
      (one) => typeof one === 'string',
    );
    const fields = Object.entries(members).filter(
      (entry): entry is [string, string[]] =>
        Array.isArray(entry[1]) && entry[1].every((one) => typeof one === 'string'),
    );
    const isGerman = language.value === 'de';
    const values = isObject(members.values) ? members.values : ({} satisfies ErrorValues);
    const german = isGerman ? germanError(members.code, values) : undefined;
    const ofFields = isGerman ? germanFieldErrors(errorCodes) : {};
    const shown = fields.map(([name, told]): [string, readonly string[]] => {
      const text = Object.hasOwn(ofFields, name) ? ofFields[name] : undefined;
      return [name, text === undefined ? told : [text]];
    });
    super(german ?? (said as string | undefined) ?? shown.map(([, told]) => told.join('; ')).join('; '));
    this.status = status;
    this.body = body;
    this.fields = status === 400 ? Object.fromEntries(shown) : {};
    // A German text says itself what to do.
    this.hint = german === undefined && typeof members.hint === 'string' ? members.hint : undefined;
    this.retryAfter = retryAfter;
  }
}

/** No answer: nobody is there, or it took too long. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly tookTooLong: boolean;

  constructor(tookTooLong: boolean) {
    super(tookTooLong ? 'timeout' : 'unreachable');
    this.tookTooLong = tookTooLong;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether the service answered when it was last asked. */
export const reachable = signal(true);

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Call {
  /** JSON, or a form with files. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds. Default: 20 s. */
  readonly timeLimit?: number;
}

/** What gives requests their token: set by the session, which itself calls this module. */
interface Bearer {
  token(): Promise<string | undefined>;
  /** Another token than this, which was refused; undefined when the session has ended. */
  another(refused: string): Promise<string | undefined>;
}

let bearer: Bearer | undefined;
export const useBearer = (given: Bearer): void => {
  bearer = given;
};

/** Errors: ApiError, NoAnswer; `AbortError` when `signal` says so. */
export async function call(method: Method, path: string, options: Call = {}): Promise<Response> {
  const token = await bearer?.token();
  const response = await send(method, path, options, token);
  if (response.status === 401 && token !== undefined) {
    const fresh = await bearer?.another(token);
    if (fresh !== undefined) return demandSuccess(await send(method, path, options, fresh));
  }
  return demandSuccess(response);
}

/** Without a token. */
export const callAsNobody = async (method: Method, path: string, options: Call = {}): Promise<Response> =>
  demandSuccess(await send(method, path, options, undefined));

async function send(
  method: Method,
  path: string,
  { body, signal: abort, timeLimit = 20_000 }: Call,
  token: string | undefined,
): Promise<Response> {
  const limit = AbortSignal.timeout(timeLimit);
  const isForm = body instanceof FormData;
  try {
    const response = await fetch(path, {
      method,
      signal: abort ? AbortSignal.any([abort, limit]) : limit,
      credentials: 'omit',
      redirect: 'error',
      cache: 'no-store',
      headers: {
        accept: 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    });
    reachable.value = true;
    return response;
  } catch (error) {
    if (abort?.aborted) throw error;
    reachable.value = false;
    throw new NoAnswer(limit.aborted);
  }
}

async function demandSuccess(response: Response): Promise<Response> {
  if (response.ok) return response;
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const body: unknown = await response.json().catch(() => undefined);
  throw new ApiError(
    response.status,
    body,
    Number.isFinite(retryAfter) ? retryAfter : undefined,
    response.headers.get('error-codes'),
  );
}

/** `timeLimit` in milliseconds, where it is not the usual one. */
export const read = async <T>(path: string, abort?: AbortSignal, timeLimit?: number): Promise<T> =>
  (await call('GET', path, { signal: abort, ...(timeLimit && { timeLimit }) })).json() as Promise<T>;

/** The record that an operation answers with; undefined where it answers with nothing. */
export async function write<T>(
  method: Exclude<Method, 'GET'>,
  path: string,
  body?: unknown,
  options: Call = {},
): Promise<T> {
  const response = await call(method, path, { ...options, ...(body !== undefined && { body }) });
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** Changes a record of a collection, or makes one where there is none yet. Answers with it. */
export const store = <T>(
  collection: string,
  of: { readonly id: number } | undefined,
  body: unknown,
): Promise<T> =>
  of ? write<T>('PATCH', `${collection}${of.id}/`, body) : write<T>('POST', collection, body);

/** A page of a list, and where the next one begins (RFC 8288). */
export interface ListPage<T> {
  readonly records: readonly T[];
  readonly next: string | undefined;
}

export async function list<T>(path: string, abort?: AbortSignal): Promise<ListPage<T>> {
  const response = await call('GET', path, { signal: abort });
  const link = /<([^>]+)>\s*;\s*rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
  const next = link === undefined ? undefined : new URL(link, location.origin).searchParams.get('cursor');
  return { records: (await response.json()) as T[], next: next ?? undefined };
}
