import { DamagedRecord, type Fault, type FaultCode, type FaultValues, toFault } from '#core/fault.ts';
import { codeOfStatus, errorCodes, type FieldCodes } from './error-codes.ts';

/** Validation messages by field. `non_field_errors` holds those that concern no single field. */
export type FieldErrors = Readonly<Record<string, readonly string[]>>;

/** The maximum number of problems in an error response. */
export const maxProblems = 20;

/** Cuts the errors to `maxProblems` messages, the last of which says that there are more. */
function bounded(fields: FieldErrors): FieldErrors {
  const all = Object.entries(fields).flatMap(([name, messages]) =>
    messages.map((message) => ({ name, message })),
  );
  if (all.length <= maxProblems) return fields;
  const shown = [
    ...all.slice(0, maxProblems - 1),
    { name: 'non_field_errors', message: 'there are more problems than this response lists' },
  ];
  return Object.fromEntries(
    Map.groupBy(shown, ({ name }) => name)
      .entries()
      .map(([name, ofField]) => [name, ofField.map(({ message }) => message)]),
  );
}

/** An invalid body or query. */
export class ValidationError extends Error {
  override readonly name = 'ValidationError';
  readonly fields: FieldErrors;
  readonly codes: FieldCodes;

  /** `codes`: the codes of fields, where they are not `invalid`. */
  constructor(fields: FieldErrors, codes: FieldCodes = {}) {
    super('validation');
    this.fields = fields;
    this.codes = codes;
  }
}

/** An error with a status that no Fault has: 405, 413, 415. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The stable code of the error. */
  readonly code: string;
  readonly values: FaultValues | undefined;

  constructor(
    status: number,
    detail: string,
    headers: Readonly<Record<string, string>> = {},
    code = codeOfStatus(status),
    values?: FaultValues,
  ) {
    super(detail);
    this.status = status;
    this.headers = headers;
    this.code = code;
    this.values = values;
  }
}

/** The token is missing (`given` is false), invalid or expired. */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  readonly given: boolean;

  constructor(given: boolean) {
    super(given ? 'the token is not valid or has expired' : 'authentication credentials were not provided');
    this.given = given;
  }
}

/** The status for each code of a Fault. */
export const statuses = {
  malformed: 400,
  badCsr: 400,
  badProof: 400,
  badAlgorithm: 400,
  unauthenticated: 401,
  forbidden: 403,
  notFound: 404,
  conflict: 409,
  replayed: 409,
  unsupported: 400,
  tooManyRequests: 429,
  unavailable: 503,
  internal: 500,
} as const satisfies Record<FaultCode, number>;

export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    // Responses contain tokens, secrets and restricted data, so no cache may keep them.
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  });
}

/**
 * Returns the response to any error (decisions.md §2). `name` turns a field of a record into its name in JSON. `report` receives the
 * cause of a defect.
 */
export function render(
  error: unknown,
  name: (field: string) => string,
  report: (cause: unknown) => void,
): Response {
  if (error instanceof ValidationError) return fieldErrors(error.fields, error.codes);
  if (error instanceof HttpError) {
    const { status, message, code, values, headers } = error;
    return json(status, { detail: message, code, ...(values && { values }) }, headers);
  }
  if (error instanceof TokenError) {
    const code = error.given ? 'token_not_valid' : 'unauthenticated';
    return json(401, { detail: error.message, code }, { 'www-authenticate': 'Bearer' });
  }
  return renderFault(toFault(error), name, report);
}

function fieldErrors(fields: FieldErrors, codes: FieldCodes, values?: FaultValues): Response {
  const shown = bounded(fields);
  const listed = errorCodes(Object.keys(shown), codes, values);
  return json(400, shown, listed === '' ? {} : { 'error-codes': listed });
}

function renderFault(
  fault: Fault,
  name: (field: string) => string,
  report: (cause: unknown) => void,
): Response {
  const { code, id, values, detail, field, hint, problems, retryAfter } = fault;
  if (code === 'internal') {
    report(fault.cause ?? fault);
    if (fault.cause instanceof DamagedRecord) {
      const hint = 'restore a backup, or delete the record';
      return json(500, { detail: fault.cause.message, code: 'internal', hint });
    }
    return json(500, { detail: 'internal error', code: 'internal' });
  }
  const status = statuses[code];
  if (status === 400 || (code === 'conflict' && field !== undefined)) {
    const messages = problems?.map((one) => (one.pointer ? `${one.pointer}: ${one.detail}` : one.detail));
    const onWire = field === undefined ? 'non_field_errors' : name(field);
    return fieldErrors({ [onWire]: messages ?? [detail] }, { [onWire]: id }, values);
  }
  return json(
    status,
    { detail, code: id, ...(values && { values }), ...(hint && { hint }) },
    {
      ...(code === 'unauthenticated' && { 'www-authenticate': 'Bearer' }),
      ...((code === 'tooManyRequests' || code === 'unavailable') && {
        'retry-after': String(retryAfter ?? 5),
      }),
    },
  );
}

/** Turns Faults about the state of the service into 500, for operations that the specification requires to do so. */
export function asServerError(error: unknown): unknown {
  const { code, detail, id, values } = toFault(error);
  const isState = code === 'unsupported' || code === 'unavailable' || code === 'conflict';
  return isState ? new HttpError(500, detail, {}, id, values) : error;
}
