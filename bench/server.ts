import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Site } from './site.ts';

const program = join(import.meta.dir, '../postern');
const readyLine = /postern ready https:\/\/[^:\s]+:(\d+)/;

/** A Postern that serves, in a process of its own, as an operator starts it. */
export interface Server extends AsyncDisposable {
  readonly port: number;
  /** Milliseconds from the start of the process to the line that says it is ready. */
  readonly startedIn: number;
  /** Microseconds of CPU time so far, of all its processes. */
  cpuTime(): number;
  /** MiB, of the process that the operator started. */
  residentMemory(): number;
}

/** `httpPort`: one that is free, where somebody needs to know it. */
export async function startServer(site: Site, httpPort = 0): Promise<Server> {
  const startedAt = performance.now();
  const server = Bun.spawn(
    [program, 'serve', '--data', site.directory, '--config', site.config].concat([
      '--https-port',
      '0',
      '--http-port',
      String(httpPort),
    ]),
    { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
  );
  const port = await portIn(server.stdout);
  const startedIn = performance.now() - startedAt;
  return {
    port,
    startedIn,
    cpuTime: () => cpuTime(server.pid),
    residentMemory: () => residentMemory(server.pid),
    async [Symbol.asyncDispose]() {
      server.kill('SIGTERM');
      await server.exited;
    },
  };
}

async function portIn(output: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<number> {
  let text = '';
  for await (const chunk of output.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const [, port] = readyLine.exec(text) ?? [];
    if (port !== undefined) return Number(port);
  }
  throw new Error(`the server did not get ready: ${text}`);
}

/** Of Linux, wherever Postern runs: sysconf(_SC_CLK_TCK). */
const ticksPerSecond = 100;

/** Microseconds of CPU time, user and system, that a process and its children have used so far. */
function cpuTime(pid: number): number {
  // The name of the program stands in brackets and may hold anything: what follows it is numbers.
  const fields = read(pid, 'stat').split(') ').at(-1)!.split(' ');
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  const own = ((user + system) / ticksPerSecond) * 1e6;
  return childrenOf(pid).reduce((sum, child) => sum + cpuTime(child), own);
}

/** MiB of memory that a process occupies. */
function residentMemory(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(read(pid, 'status')) ?? [];
  return Number(kibibytes) / 1024;
}

const childrenOf = (pid: number): number[] =>
  read(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);

const read = (pid: number, file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8');
