import { mkdir } from 'node:fs/promises';
import type { Clock, Log, LogFields, RequestContext } from '#core/ports/platform.ts';
import { formatLine, type LogEntry, type LogLevel, logLevels } from './log-line.ts';
import { LogQueue } from './log-queue.ts';
import { RotatingFile } from './log-rotation.ts';
import { systemClock } from './platform.ts';

interface LogFileOptions {
  /** Contains `postern.log` and its predecessors, nothing else. Created if it is missing. */
  readonly directory: string;
  /** The lowest level that is written. */
  readonly level: LogLevel;
  /** Whether the lines are also written to standard error. */
  readonly stderr: boolean;
  /** Octets of one file; default 10 MiB. */
  readonly maxBytes?: number;
  /** Default 10. */
  readonly maxFiles?: number;
  readonly clock?: Clock;
  /** Names the request of a line. */
  readonly requests?: RequestContext;
}

/** Milliseconds that `close` waits for a blocked disk or reader of standard error. */
const patience = 2000;

/** Opens a log of JSON lines: time, level, pid, event, the request's id and traceparent, then the fields, and `error` for a cause. */
export async function openLogFile(options: LogFileOptions): Promise<Log & { close(): Promise<void> }> {
  const { directory, maxBytes = 10 * 1024 * 1024, maxFiles = 10, clock = systemClock, requests } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = new RotatingFile({ directory, maxBytes, maxFiles, now: clock.now });
  // Fail at the start, while somebody is watching, if the file cannot be written.
  await file.append('');

  const report = (count: number): string =>
    formatLine({ time: clock.now(), level: 'warn', event: 'log lines dropped', fields: { count } });
  const queues = [new LogQueue((batch) => file.append(batch), report)];
  if (options.stderr) queues.push(new LogQueue(writeToStandardError, report));

  const least = logLevels.indexOf(options.level);
  let closed = false;
  const write = (level: LogLevel, event: string, fields?: LogFields, cause?: unknown): void => {
    if (closed || logLevels.indexOf(level) < least) return;
    const line = formatSafely({
      time: clock.now(),
      level,
      event,
      fields,
      cause,
      request: requests?.current(),
    });
    for (const queue of queues) queue.add(line);
  };

  return {
    debug: (event, fields) => write('debug', event, fields),
    info: (event, fields) => write('info', event, fields),
    warn: (event, fields) => write('warn', event, fields),
    error: (event, cause, fields) => write('error', event, fields, cause),
    async close() {
      if (closed) return;
      closed = true;
      let timer: Timer | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, patience);
      });
      await Promise.race([Promise.all(queues.map((queue) => queue.flush())), late]);
      clearTimeout(timer);
      await file.close();
    },
  };
}

/** Formats any input without throwing. */
function formatSafely(entry: LogEntry): string {
  try {
    return formatLine(entry);
  } catch {
    return formatLine({ time: entry.time, level: entry.level, event: 'log line that cannot be formatted' });
  }
}

const ignore = (): void => undefined;

function writeToStandardError(batch: string): Promise<void> {
  // Without a listener, a closed standard error would end the process.
  if (!process.stderr.listeners('error').includes(ignore)) process.stderr.on('error', ignore);
  return new Promise((resolve, reject) => {
    process.stderr.write(batch, (error) => (error ? reject(error) : resolve()));
  });
}
