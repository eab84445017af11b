import { readFileSync } from 'node:fs';

/** Of Linux, wherever Postern runs: sysconf(_SC_CLK_TCK). */
const ticksPerSecond = 100;

/** Microseconds of CPU time, user and system, that a process and its children have used so far. */
export function cpuTime(pid: number): number {
  // The name of the program stands in brackets and may hold anything: what follows it is numbers.
  const fields = read(pid, 'stat').split(') ').at(-1)!.split(' ');
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  const own = ((user + system) / ticksPerSecond) * 1e6;
  return childrenOf(pid).reduce((sum, child) => sum + cpuTime(child), own);
}

/** MiB of memory that a process occupies. */
export function residentMemory(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(read(pid, 'status')) ?? [];
  return Number(kibibytes) / 1024;
}

const childrenOf = (pid: number): number[] =>
  read(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);

const read = (pid: number, file: string): string => readFileSync(`/proc/${pid}/${file}`, 'utf8');
