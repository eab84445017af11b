import { run } from '../measure.ts';
import { restEnrolments } from '../requests.ts';
import { startServer } from '../server.ts';
import { createSite } from '../site.ts';
import { type Case, connections, deviceCount, loopback } from './case.ts';

const maxMemory = 250;
const steps = 5;
/** The growth allowed during a second series of as many enrolments: warm-up has ended by then, a leak would go on. */
const mostGrowth = 0.1;

export const memoryCase: Case = {
  name: 'memory',
  async run(load, { watched }) {
    using site = await createSite(deviceCount, loopback);
    await using server = await startServer(site);
    const job = { port: server.port, connections, requests: restEnrolments(site.devices) };
    const atStart = server.residentMemory();
    const after: number[] = [];
    for (let step = 0; step < 2 * steps; step++) {
      await run(load, { ...job, count: watched / steps });
      after.push(server.residentMemory());
    }
    const then = after[steps - 1]!;
    const growth = after.at(-1)! / then - 1;
    return [
      {
        title: `Resident memory, one worker, after ${watched.toLocaleString('en')} enrolments`,
        target: `≤ ${maxMemory} MiB, flat`,
        measured: `${then.toFixed(0)} MiB`,
        met: Math.max(...after) <= maxMemory && growth <= mostGrowth,
        remark: `${atStart.toFixed(0)} at the start; ${after.map((mebibytes) => mebibytes.toFixed(0)).join(', ')}, the last after twice as many`,
        figures: { atStart, after },
      },
    ];
  },
};
