import { join } from 'node:path';
import type { CrlFigures } from '../crl-process.ts';
import { printTable, type Result } from '../report.ts';
import { type Case, microseconds } from './case.ts';

const program = join(import.meta.dir, '..', 'crl-process.ts');
/** The cost of an entry from the second count to the last. */
const mostGrowth = 0.25;

/** CRLs of more and more entries, on SQLite: time and memory of each, and OpenSSL's word that it holds. */
export const crlCase: Case = { name: 'crl', run: async (_, { revoked }) => crlsUpTo(revoked) };

function crlsUpTo(revoked: number): Result[] {
  const counts = [1000, 10_000, 100_000, 1_000_000].filter((count) => count <= revoked);
  const figures = counts.map(measure);
  const perEntry = figures.map(({ time, entries }) => (1000 * time) / entries);
  const growth = perEntry.at(-1)! / perEntry[1]! - 1;
  const holds = figures.every(({ verified }) => verified === 'verify OK');
  return figures.map((one, n) => ({
    title: `CRL of ${one.entries.toLocaleString('en')} entries`,
    measured: `${microseconds(perEntry[n]!)} an entry`,
    ...(n === figures.length - 1 && {
      reach: `≤ ${100 * mostGrowth} % above 10,000`,
      met: growth <= mostGrowth && holds,
    }),
    remark: [
      `${(one.time / 1000).toFixed(2)} s`,
      `${(one.size / 2 ** 20).toFixed(1)} MiB`,
      `memory ${one.before.toFixed(0)} to ${one.peak.toFixed(0)} MiB`,
      `longest wait of others ${one.stall.toFixed(0)} ms`,
      `openssl: ${one.verified}`,
    ].join(', '),
    figures: one,
  }));
}

function measure(entries: number): CrlFigures {
  const { success, stdout, stderr } = Bun.spawnSync([process.execPath, program, String(entries)]);
  if (!success) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString()) as CrlFigures;
}

if (import.meta.main) printTable(crlsUpTo(Number(process.argv[2] ?? 1_000_000)));
