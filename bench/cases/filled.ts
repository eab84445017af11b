import type { Load } from '../load-process.ts';
import { type Measured, measure, pooled, run } from '../measure.ts';
import { restEnrolments } from '../requests.ts';
import { type Server, startServer } from '../server.ts';
import { createSite, type Site } from '../site.ts';
import { fill } from '../store.ts';
import { type Case, connections, deviceCount, type Extent, loopback, microseconds } from './case.ts';

const mostSlower = 0.1;

/** Compares the same load on two servers in turn: one with an empty store, one with a filled store. */
export const filledCase: Case = {
  name: 'filled',
  async run(load, extent) {
    const { filled: count, servers } = extent;
    using filled = await createSite(deviceCount, loopback);
    {
      // One certificate, from which the others are copied.
      await using server = await startServer(filled);
      await run(load, { ...jobOn(server, filled), count: 1 });
    }
    fill(filled.directory, count, deviceCount);

    const pairs: Pair[] = [];
    for (let n = 0; n < servers; n++) pairs.push(await compare(load, extent, filled));
    const onEmpty = pooled(pairs.map((pair) => pair.onEmpty));
    const onFilled = pooled(pairs.map((pair) => pair.onFilled));
    const startedIn = Math.max(...pairs.map((pair) => pair.startedIn));
    const slower = onFilled.ratio / onEmpty.ratio - 1;
    return [
      {
        title: `REST enrol, SQLite, ${count.toLocaleString('en')} certificates in the store`,
        target: `≤ ${100 * mostSlower} % above the empty store`,
        measured: `${(100 * slower).toFixed(1)} %`,
        met: slower <= mostSlower,
        remark: `${microseconds(onFilled.cpu)}, empty ${microseconds(onEmpty.cpu)}; ready after ${startedIn.toFixed(0)} ms`,
        figures: { onEmpty, onFilled, startedIn },
      },
    ];
  },
};

interface Pair {
  readonly onEmpty: Measured;
  readonly onFilled: Measured;
  /** Milliseconds until the server with the filled store was ready. */
  readonly startedIn: number;
}

async function compare(load: Load, { warmUp, perRound, rounds }: Extent, filled: Site): Promise<Pair> {
  using empty = await createSite(deviceCount, loopback);
  await using first = await startServer(empty);
  await using second = await startServer(filled);
  const subjects = [
    { server: first, job: { ...jobOn(first, empty), count: perRound } },
    { server: second, job: { ...jobOn(second, filled), count: perRound } },
  ];
  for (const { job } of subjects) await run(load, { ...job, count: warmUp });
  const [onEmpty, onFilled] = await measure(load, subjects, rounds);
  return { onEmpty: onEmpty!, onFilled: onFilled!, startedIn: second.startedIn };
}

const jobOn = ({ port }: Server, { devices }: Site) => ({
  port,
  connections,
  requests: restEnrolments(devices),
});
