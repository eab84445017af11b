import { cryptographicLimit, type Limit } from './limit.ts';
import type { Done, Job } from './load.ts';
import type { Load } from './load-process.ts';
import type { Server } from './server.ts';

/** A server, and what is asked of it. */
export interface Subject {
  readonly server: Pick<Server, 'cpuTime'>;
  readonly job: Job;
}

/** What one round of load cost the server. */
interface Round {
  /** Microseconds of CPU time for each exchange. */
  readonly cpu: number;
  /** Microseconds: the limit meanwhile. */
  readonly limit: number;
  /** How many times the limit an exchange cost. */
  readonly ratio: number;
  /** Exchanges a second. */
  readonly rate: number;
  /** Milliseconds to the answer: half, and all but one in a hundred, took no longer. */
  readonly median: number;
  readonly slowest: number;
}

/** The medians of several rounds. */
export interface Measured extends Round {
  readonly rounds: readonly Round[];
}

/** One subject after the other, again and again: what else the machine does falls on all of them alike. */
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

/** What was measured in several parts, as one. */
export const pooled = (parts: readonly Measured[]): Measured =>
  summarize(parts.flatMap(({ rounds }) => rounds));

async function round(load: Load, { server, job }: Subject, limitOf: Limit): Promise<Round> {
  const before = server.cpuTime();
  const [{ seconds, median, slowest }, limit] = await alongside(run(load, job), limitOf);
  const cpu = (server.cpuTime() - before) / job.count;
  return { cpu, limit, ratio: cpu / limit, rate: job.count / seconds, median, slowest };
}

/** Milliseconds from one slice of the limit to the next, and what is in it: a tenth of one processor. */
const betweenSlices = 100;
const inSlice = 100;

/**
 * What `work` gives, and the limit while it went on. A processor with nothing beside it is a fifth faster than one whose neighbour is
 * at work; so the limit is taken in slices meanwhile, on a machine that is as busy as the server finds it.
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

/** Anything but success is an error: a refusal costs less than a certificate. */
export async function run(load: Load, job: Job): Promise<Done> {
  const done = await load.run(job);
  const failures = Object.entries(done.failures);
  if (failures.length === 0) return done;
  throw new Error(`answers other than 200: ${failures.map(([status, n]) => `${n} × ${status}`).join(', ')}`);
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
