import { measure, run } from '../measure.ts';
import { restEnrolments } from '../requests.ts';
import { type Server, startServer } from '../server.ts';
import { createSite, type Site } from '../site.ts';
import { fill } from '../store.ts';
import { type Case, connections, deviceCount, loopback, microseconds } from './case.ts';

const mostSlower = 0.1;

/** The same load on two servers in turn: the store of one is empty, that of the other is not. */
export const filledCase: Case = {
  name: 'filled',
  async run(load, { filled: count, warmUp, perRound, rounds }) {
    using empty = await createSite(deviceCount, loopback);
    using filled = await createSite(deviceCount, loopback);
    const jobOn = ({ port }: Server, { devices }: Site) => ({
      port,
      connections,
      count: perRound,
      requests: restEnrolments(devices),
    });
    {
      // One certificate, of which the others are copies.
      await using server = await startServer(filled);
      await run(load, { ...jobOn(server, filled), count: 1 });
    }
    fill(filled.directory, count, deviceCount);

    await using first = await startServer(empty);
    await using second = await startServer(filled);
    const subjects = [
      { server: first, job: jobOn(first, empty) },
      { server: second, job: jobOn(second, filled) },
    ];
    for (const { job } of subjects) await run(load, { ...job, count: warmUp });
    const [onEmpty, onFilled] = await measure(load, subjects, rounds);
    const slower = onFilled!.ratio / onEmpty!.ratio - 1;
    return [
      {
        title: `REST enrol, SQLite, ${count.toLocaleString('en')} certificates in the store`,
        reach: `≤ ${100 * mostSlower} % above the empty one`,
        measured: `${(100 * slower).toFixed(1)} %`,
        met: slower <= mostSlower,
        remark: `${microseconds(onFilled!.cpu)}, empty ${microseconds(onEmpty!.cpu)}; ready after ${second.startedIn.toFixed(0)} ms`,
        figures: { onEmpty, onFilled, startedIn: second.startedIn },
      },
    ];
  },
};
