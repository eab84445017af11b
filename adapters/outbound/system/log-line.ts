import type { LogFields, RequestTrace } from '#core/ports/platform.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

const mostCharacters = 2000;
const deepestCause = 5;
const mostErrors = 5;

/**
 * Names of fields that are redacted, as a second line of defence: callers must not log secrets. `pin` must be a whole
 * word, so that `mapping` does not match.
 */
const secretName = /password|passwd|passphrase|secret|token|authorization|cookie|(?<![a-z])pin(?![a-z])/;

const namesSecret = (name: string): boolean =>
  secretName.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase());

const cut = (text: string): string =>
  text.length <= mostCharacters ? text : `${text.slice(0, mostCharacters)}…`;

/**
 * Characters that JSON does not escape but terminals and viewers interpret: C1 controls, line separators, direction
 * marks.
 */
const unprintable = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

export interface LogEntry {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly level: LogLevel;
  readonly event: string;
  readonly fields?: LogFields | undefined;
  readonly cause?: unknown;
  readonly request?: RequestTrace | undefined;
}

/** Formats a line of JSON with its line feed. Throws if reading `fields` or `cause` throws. */
export function formatLine(entry: LogEntry): string {
  const line: Record<string, unknown> = {
    time: new Date(entry.time).toISOString(),
    level: entry.level,
    pid: process.pid,
    event: cut(entry.event),
    ...(entry.request && { requestId: entry.request.id }),
    ...(entry.request?.traceparent !== undefined && { traceparent: entry.request.traceparent }),
    ...(entry.cause !== undefined && { error: describe(entry.cause, deepestCause) }),
  };
  for (const [name, value] of Object.entries(entry.fields ?? {})) {
    const shown = typeof value === 'string' ? cut(value) : value;
    line[Object.hasOwn(line, name) ? `${name}_` : name] = namesSecret(name) ? '[redacted]' : shown;
  }
  return `${JSON.stringify(line).replace(unprintable, escaped)}\n`;
}

function describe(cause: unknown, depth: number): unknown {
  if (!(cause instanceof Error)) return cut(String(cause));
  const deeper = depth > 1 && cause.cause !== undefined;
  return {
    name: cut(cause.name),
    ...('code' in cause && { code: cut(String(cause.code)) }),
    message: cut(cause.message),
    stack: cut(cause.stack ?? ''),
    ...(deeper && { cause: describe(cause.cause, depth - 1) }),
    // A failed connection has one error for each address that was tried.
    ...(cause instanceof AggregateError &&
      depth > 1 && { errors: cause.errors.slice(0, mostErrors).map((error) => describe(error, 1)) }),
  };
}
