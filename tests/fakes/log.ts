import type { Log, LogFields } from '#core/ports/platform.ts';

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: LogFields | undefined;
  readonly cause?: unknown;
}

/** A log that keeps its entries. */
export function recordingLog(): Log & { readonly entries: readonly LogEntry[] } {
  const entries: LogEntry[] = [];
  const at =
    (level: LogEntry['level']) =>
    (event: string, fields?: LogFields): void => {
      entries.push({ level, event, fields });
    };
  return {
    entries,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error(event, cause, fields) {
      entries.push({ level: 'error', event, fields, cause });
    },
  };
}
