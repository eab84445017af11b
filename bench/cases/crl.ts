import { join } from 'node:path';
import type { CrlDatabase, CrlFigures } from '../crl-process.ts';
import { printTable, type Result } from '../report.ts';
import { type Case, microseconds } from './case.ts';

const program = join(import.meta.dir, '..', 'crl-process.ts');
/** The cost of an entry from 10,000 entries to the most. */
const mostGrowth = 0.25;
/** Milliseconds. */
const longestStall = 50;

/** Issues CRLs of increasing size on both databases. Measures time, memory and stalls of the event loop; OpenSSL verifies each CRL. */
export const crlCase: Case = {
  name: 'crl',
  run: async (_, { revoked, filled }) => [
    ...crlsUpTo('sqlite', filled, revoked),
    ...crlsUpTo('postgres', filled, revoked),
  ],
};

function crlsUpTo(database: CrlDatabase, good: number, revoked: number): Result[] {
  const figures = measure(database, good, revoked);
  const perEntry = figures.map(({ time, entries }) => (1000 * time) / entries);
  const growth = perEntry.at(-1)! / perEntry[figures.findIndex(({ entries }) => entries >= 10_000)]! - 1;
  const name = database === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  return figures.map((one, n) => {
    const isLast = n === figures.length - 1;
    const stall = Math.max(one.stall, one.readingStall, one.downloadStall);
    return {
      title: `CRL of ${count(one.entries)} among ${count(one.good)} good, ${name}`,
      measured: `stall ${stall.toFixed(0)} ms, ${microseconds(perEntry[n]!)} per entry`,
      target: `≤ ${longestStall} ms${isLast ? `, ≤ ${100 * mostGrowth} % above 10,000` : ''}`,
      met: stall <= longestStall && one.verified === 'verify OK' && (!isLast || growth <= mostGrowth),
      remark: [
        `issued in ${seconds(one.time)} (stall ${one.stall.toFixed(0)} ms, at most ${one.busy.toFixed(0)} ms of CPU time)`,
        `read by another gateway in ${seconds(one.reading)} (${one.readingStall.toFixed(0)} ms)`,
        `PEM in ${seconds(one.download)} (${one.downloadStall.toFixed(0)} ms)`,
        `longest of ${one.enrolments} enrolments ${one.enrolment.toFixed(0)} ms`,
        `${(one.size / 2 ** 20).toFixed(1)} MiB`,
        `memory ${one.before.toFixed(0)} to ${one.peak.toFixed(0)} MiB`,
        `openssl: ${one.verified}`,
      ].join(', '),
      figures: one,
    };
  });
}

const count = (n: number): string => n.toLocaleString('en');
const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(2)} s`;

function measure(database: CrlDatabase, good: number, revoked: number): readonly CrlFigures[] {
  const command = [process.execPath, program, database, String(good), String(revoked)];
  const { success, stdout, stderr } = Bun.spawnSync(command);
  if (!success) throw new Error(stderr.toString());
  const lines = stdout.toString().trim().split('\n');
  return lines.map((line) => JSON.parse(line) as CrlFigures);
}

if (import.meta.main) {
  const most = Number(process.argv[2] ?? 1_000_000);
  printTable([...crlsUpTo('sqlite', most, most), ...crlsUpTo('postgres', most, most)]);
}
