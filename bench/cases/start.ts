import { median, run } from '../measure.ts';
import { restEnrolments } from '../requests.ts';
import { startServer } from '../server.ts';
import { createSite } from '../site.ts';
import { type Case, connections, deviceCount, loopback } from './case.ts';

const maxTime = 1000;

/** Measures the time from the start of the process to the line "postern ready". */
export const startCase: Case = {
  name: 'start',
  async run(load, { warmUp, starts }) {
    using site = await createSite(deviceCount, loopback);
    {
      await using server = await startServer(site);
      const requests = restEnrolments(site.devices);
      await run(load, { port: server.port, connections, count: warmUp, requests });
    }
    const took: number[] = [];
    for (let n = 0; n < starts; n++) {
      await using server = await startServer(site);
      took.push(server.startedIn);
    }
    return [
      {
        title: 'Start to ready, existing data',
        target: `≤ ${maxTime} ms`,
        measured: `${median(took).toFixed(0)} ms`,
        met: median(took) <= maxTime,
        remark: `${took.map((milliseconds) => milliseconds.toFixed(0)).join(', ')}`,
        figures: { took },
      },
    ];
  },
};
