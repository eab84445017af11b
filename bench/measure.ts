import { cryptographicLimit, type Limit } from './limit.ts';
import type { Done, Job } from './load.ts';
import type { Load } from './load-process.ts';
import type { Server } from './server.ts';

/** A server and the load that it gets. */
export interface Subject {
  readonly server: Pick<Server, 'cpuTime'>;
  readonly job: Job;
}

/** The cost of one round of load for the server. */
interface Round {
  /** Microseconds of CPU time per request. */
  readonly cpu: number;
  /** The limit during the round, in microseconds. */
  readonly limit: number;
  /** The cost of a request as a multiple of the limit. */
  readonly ratio: number;
  /** Requests per second. */
  readonly rate: number;
  /** Response times in milliseconds: the 50th and the 99th percentile. */
  readonly median: number;
  readonly slowest: number;
}

/** The medians of several rounds. */
export interface Measured extends Round {
  readonly rounds: readonly Round[];
}

/** Measures all subjects in turns, so that other work on the machine affects them equally. */
export async function measure(
  load: Load,
  subjects: readonly Subject[],
  rounds: number,
  limit = cryptographicLimit,
): Promise<readonly Measured[]> {
  const done = subjects.map((): Round[] => []);
  for (let n = 0; n < rounds; n++) {
    for (const [which, subject] of subjects.entries()) done[which]!.push(await round(load, subject, limit));
  }
  return done.map(summarize);
}

/** Combines several measurements into one. */
export const pooled = (parts: readonly Measured[]): Measured =>
  summarize(parts.flatMap(({ rounds }) => rounds));

async function round(load: Load, { server, job }: Subject, limitOf: Limit): Promise<Round> {
  const before = server.cpuTime();
  const [{ seconds, median, slowest }, limit] = await alongside(run(load, job), limitOf);
  const cpu = (server.cpuTime() - before) / job.count;
  return { cpu, limit, ratio: cpu / limit, rate: job.count / seconds, median, slowest };
}

/** The limit is measured in slices: milliseconds between two slices, and operations in each. They take a tenth of one CPU. */
const betweenSlices = 100;
const inSlice = 100;

/**
 * Returns the result of `work` and the limit measured meanwhile. A CPU core is about a fifth faster while the others are idle, so the
 * limit must be measured on a machine that is as busy as it is for the server.
 */
async function alongside<T>(work: Promise<T>, limit: Limit): Promise<readonly [T, number]> {
  const slices: number[] = [];
  const timer = setInterval(() => slices.push(limit(inSlice)), betweenSlices);
  try {
    const done = await work;
    return [done, slices.length > 0 ? mean(slices) : limit(inSlice)];
  } finally {
    clearInterval(timer);
  }
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Runs a job. Throws an Error for any response but 200, because a rejection costs less than a certificate. */
export async function run(load: Load, job: Job): Promise<Done> {
  const done = await load.run(job);
  const failures = Object.entries(done.failures);
  if (failures.length === 0) return done;
  throw new Error(
    `responses other than 200: ${failures.map(([status, n]) => `${n} × ${status}`).join(', ')}`,
  );
}

function summarize(rounds: readonly Round[]): Measured {
  const of = (which: keyof Round): number => median(rounds.map((round) => round[which]));
  return {
    cpu: of('cpu'),
    limit: of('limit'),
    ratio: of('ratio'),
    rate: of('rate'),
    median: of('median'),
    slowest: of('slowest'),
    rounds,
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
