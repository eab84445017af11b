/**
 * Lists every way in which a request can fail. A code carries no HTTP status, OID or body: each protocol maps the codes
 * to its own errors in one table, which must cover all of them.
 */
export const faultMeanings = {
  malformed: 'The request breaks the rules of the protocol: syntax, encoding, a missing or unknown field.',
  badCsr: 'The certification request can be parsed, but no certificate may be issued for it.',
  badProof: 'The proof of possession is wrong or missing.',
  badAlgorithm: 'A key or an algorithm is unknown, weak or forbidden.',
  unauthenticated: 'The requester is unknown, or its credentials are wrong.',
  forbidden: 'The requester is known, but not permitted to do this.',
  notFound: 'The record does not exist.',
  conflict: 'The state of a record does not allow the operation.',
  replayed: 'The transaction or nonce has been used before.',
  unsupported: 'The request is well-formed, but asks for something that Postern does not offer.',
  tooManyRequests: 'The limit of requests or failed sign-ins is reached: try again after `Retry-After`.',
  unavailable: 'A key, the store or an upstream CA is unreachable: try again later.',
  internal: 'A defect in Postern. The log has the cause; the response does not show it.',
} as const;

export type FaultCode = keyof typeof faultMeanings;

export const faultCodes = Object.keys(faultMeanings) as readonly FaultCode[];

/** One of several problems with an input. */
export interface Problem {
  /** The location of the problem, as a JSON pointer (RFC 6901) into `field`; empty for the whole field. */
  readonly pointer: string;
  readonly detail: string;
}

/** What a text is built from, for a translation of it. */
export type FaultValues = Readonly<Record<string, string | number>>;

export interface FaultOptions {
  /**
   * Identifies this error among those of its code, for programs and translations, in snake_case. Part of the Management
   * API, so it never changes. Default: the code.
   */
  readonly id?: string;
  /** The values in `detail` by name. Shown like `detail`. */
  readonly values?: FaultValues;
  /** What the caller can do about it. */
  readonly hint?: string;
  /** The invalid input field, in the caller's spelling. */
  readonly field?: string;
  /** The problems that `detail` summarises, one by one. */
  readonly problems?: readonly Problem[];
  /** Seconds after which a retry makes sense (tooManyRequests, unavailable). */
  readonly retryAfter?: number;
  /** For the log only, never shown. */
  readonly cause?: unknown;
}

/**
 * A failure that is reported to the caller. `detail` is shown to the caller, so it holds no secrets and no internals.
 */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: FaultCode;
  readonly id: string;
  readonly values: FaultValues | undefined;
  readonly detail: string;
  readonly hint: string | undefined;
  readonly field: string | undefined;
  readonly problems: readonly Problem[] | undefined;
  readonly retryAfter: number | undefined;

  constructor(code: FaultCode, detail: string, options: FaultOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.id = options.id ?? code.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    this.values = options.values;
    this.detail = detail;
    this.hint = options.hint;
    this.field = options.field;
    this.problems = options.problems;
    this.retryAfter = options.retryAfter;
  }
}

/** Returns `error` itself if it is a Fault, else an `internal` Fault with `error` as its cause. */
export function toFault(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('internal', 'internal error', { cause: error });
}

const ofInput: ReadonlySet<FaultCode> = new Set(['malformed', 'badCsr', 'badProof', 'badAlgorithm']);

/** Adds the input field to a Fault about the input that names no field yet. Returns other errors unchanged. */
export function atField(error: unknown, field: string): unknown {
  if (!(error instanceof Fault) || error.field !== undefined || !ofInput.has(error.code)) return error;
  const { code, detail, id, values, hint } = error;
  const options = { id, field, cause: error, ...(values && { values }), ...(hint !== undefined && { hint }) };
  return new Fault(code, detail, options);
}

/**
 * A stored record that cannot be read, as the cause of a Fault `internal`. The message names the record and shows nothing of what it
 * holds: an administrator may see it.
 */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord';
  readonly kind: string;
  readonly id: number;

  constructor(kind: string, id: number, message: string) {
    super(message);
    this.kind = kind;
    this.id = id;
  }
}
