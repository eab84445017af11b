import { run } from '../measure.ts';
import { restEnrolments } from '../requests.ts';
import { startServer } from '../server.ts';
import { createSite } from '../site.ts';
import { type Case, connections, deviceCount, loopback } from './case.ts';

const most = 250;
const steps = 5;
/** From the second step to the last; the first is still warm-up. */
const mostGrowth = 0.1;

export const memoryCase: Case = {
  name: 'memory',
  async run(load, { watched }) {
    using site = await createSite(deviceCount, loopback);
    await using server = await startServer(site);
    const job = { port: server.port, connections, requests: restEnrolments(site.devices) };
    const atStart = server.residentMemory();
    const after: number[] = [];
    for (let step = 0; step < steps; step++) {
      await run(load, { ...job, count: watched / steps });
      after.push(server.residentMemory());
    }
    const last = after.at(-1)!;
    const growth = last / after[1]! - 1;
    return [
      {
        title: `Resident memory, one worker, after ${watched.toLocaleString('en')} enrolments`,
        reach: `≤ ${most} MiB, flat`,
        measured: `${last.toFixed(0)} MiB`,
        met: Math.max(...after) <= most && growth <= mostGrowth,
        remark: `${atStart.toFixed(0)} at the start; ${after.map((mebibytes) => mebibytes.toFixed(0)).join(', ')}`,
        figures: { atStart, after },
      },
    ];
  },
};
