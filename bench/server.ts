import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Site } from './site.ts';

const program = join(import.meta.dir, '../postern');
const readyLine = /postern ready https:\/\/[^:\s]+:(\d+)/;

/** A Postern server, started as an operator starts it. */
export interface Server extends AsyncDisposable {
  readonly port: number;
  /** Milliseconds from the start of the process to the line "postern ready". */
  readonly startedIn: number;
  /** Returns the CPU time of all its processes so far, in microseconds. */
  cpuTime(): number;
  /** Returns the resident memory in MiB of the process that the operator started. */
  residentMemory(): number;
}

/** Starts a server. `httpPort`: a free port, if the caller needs to know it. */
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
  throw new Error(`the server did not become ready: ${text}`);
}

/** sysconf(_SC_CLK_TCK), which is 100 on every Linux where Postern runs. */
const ticksPerSecond = 100;

/** Returns the CPU time (user and system) of a process and its children so far, in microseconds. */
function cpuTime(pid: number): number {
  // The program name in parentheses can contain anything; only numbers follow it.
  const fields = read(pid, 'stat').split(') ').at(-1)!.split(' ');
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  const own = ((user + system) / ticksPerSecond) * 1e6;
  return childrenOf(pid).reduce((sum, child) => sum + cpuTime(child), own);
}

/** Returns the resident memory of a process in MiB. */
function residentMemory(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(read(pid, 'status')) ?? [];
  return Number(kibibytes) / 1024;
}

const childrenOf = (pid: number): number[] =>
  read(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);

const read = (pid: number, file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8');
