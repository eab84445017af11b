export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Structured log. `event` is a short stable phrase; no secrets in fields, ever. Never throws. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  /** `cause` goes to the log with its stack, and nowhere else. */
  error(event: string, cause?: unknown, fields?: LogFields): void;
}
