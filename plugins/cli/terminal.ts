import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Milliseconds between two updates: on a terminal, and elsewhere, where each update is a new line. */
const pause = { terminal: 200, elsewhere: 10_000 } as const;

/** The stream that receives the progress. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Shows the progress of a long operation. */
export interface Progress {
  /** `done` and `total` in octets, or in the unit of the progress; `total` where it is known. */
  at(done: number, total?: number): void;
  /** Clears the line on a terminal. */
  end(): void;
}

/** Writes progress to standard error: on a terminal one line that is overwritten, elsewhere (a log, cron) a line every ten seconds. */
export function progressOf(
  what: string,
  output: ProgressOutput = process.stderr,
  now: () => number = () => performance.now(),
  unit: (amount: number) => string = megabytes,
): Progress {
  const terminal = output.isTTY === true;
  const every = terminal ? pause.terminal : pause.elsewhere;
  let updatedAt = now();
  let shown = false;
  return {
    at(done, total) {
      if (now() - updatedAt < every) return;
      updatedAt = now();
      const line = `${what}: ${unit(done)}${total === undefined ? '' : ` of ${unit(total)} (${percent(done, total)})`}`;
      output.write(terminal ? `\r\u001b[K${line}` : `${line}\n`);
      shown = terminal;
    },
    end() {
      if (shown) output.write('\r\u001b[K');
      shown = false;
    },
  };
}

const megabytes = (octets: number): string => `${(octets / 1e6).toFixed(1)} MB`;
const percent = (done: number, total: number): string =>
  `${total === 0 ? 100 : Math.floor((100 * done) / total)} %`;

/** Reads a line from the terminal without echoing it. */
export async function ask(prompt: string): Promise<string> {
  process.stderr.write(prompt);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  terminal.on('SIGINT', () => process.exit(130));
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}
