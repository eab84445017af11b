import type { Load } from '../load-process.ts';
import { type Measured, measure, pooled, run } from '../measure.ts';
import type { Result } from '../report.ts';
import { estEnrolments, restEnrolments } from '../requests.ts';
import { startServer } from '../server.ts';
import { createSite, type Device } from '../site.ts';
import { type Store, sqlite, startPostgresStore } from '../store.ts';
import { type Case, connections, deviceCount, type Extent, loopback, microseconds, times } from './case.ts';

interface Enrolment {
  readonly name: string;
  readonly title: string;
  /** The target cost as a multiple of the limit. */
  readonly target?: number;
  readonly requests: (devices: readonly Device[]) => string[];
  readonly store: () => Promise<Store>;
  readonly workers: number;
}

const rest = { requests: restEnrolments, store: async () => sqlite, workers: 1 };

/** Enrolments of P-256 keys with Basic credentials over kept-alive connections. */
export const enrolmentCases: readonly Case[] = (
  [
    { ...rest, name: 'rest-sqlite', title: 'REST enrol, SQLite', target: 2.5 },
    { ...rest, name: 'est-sqlite', title: 'EST simpleenroll, SQLite', target: 2.5, requests: estEnrolments },
    { ...rest, name: 'rest-postgres', title: 'REST enrol, PostgreSQL', target: 3, store: startPostgresStore },
    {
      ...rest,
      name: 'est-postgres',
      title: 'EST simpleenroll, PostgreSQL',
      target: 3,
      requests: estEnrolments,
      store: startPostgresStore,
    },
    { ...rest, name: 'two-workers', title: 'REST enrol, SQLite, two workers', workers: 2 },
  ] satisfies readonly Enrolment[]
).map((enrolment) => ({
  name: enrolment.name,
  run: async (load, extent) => [await enrol(enrolment, load, extent)],
}));

async function enrol(enrolment: Enrolment, load: Load, extent: Extent): Promise<Result> {
  const { title, target } = enrolment;
  const parts: Measured[] = [];
  for (let n = 0; n < extent.servers; n++) parts.push(await enrolAtOne(enrolment, load, extent));
  const measured = pooled(parts);
  return {
    title,
    measured: times(measured.ratio),
    remark: remarkOn(measured),
    ...(target !== undefined && { target: `≤ ${target} ×`, met: measured.ratio <= target }),
    figures: measured,
  };
}

async function enrolAtOne(
  { requests, store: open, workers }: Enrolment,
  load: Load,
  { warmUp, rounds, perRound }: Extent,
): Promise<Measured> {
  await using store = await open();
  using site = await createSite(deviceCount, `${loopback}workers = ${workers}\n${store.tables}`);
  await using server = await startServer(site);
  const job = { port: server.port, connections, count: perRound, requests: requests(site.devices) };
  const before = await store.certificates(site.directory);
  await run(load, { ...job, count: warmUp });
  const [measured] = await measure(load, [{ server, job }], rounds);
  const stored = (await store.certificates(site.directory)) - before;
  const answered = warmUp + rounds * perRound;
  if (stored !== answered) throw new Error(`${answered} certificates were issued, but ${stored} are stored`);
  return measured!;
}

const remarkOn = ({ cpu, limit, rate, median, slowest }: Measured): string =>
  `${microseconds(cpu)}, limit ${microseconds(limit)}; ${rate.toFixed(0)}/s, ${median.toFixed(1)} ms, 99 % in ${slowest.toFixed(1)} ms`;
