import { type Measured, measure, run, type Subject } from '../measure.ts';
import { restEnrolments } from '../requests.ts';
import { type Server, startServer } from '../server.ts';
import { createSite } from '../site.ts';
import { startPostgresStore } from '../store.ts';
import { type Case, connections, deviceCount, loopback, microseconds, times } from './case.ts';

/** Measures the cost of a certificate with one, two and three gateways on one PostgreSQL, with the same number of clients each. */
export const gatewaysCase: Case = {
  name: 'gateways',
  async run(load, { warmUp, perRound, rounds }) {
    await using store = await startPostgresStore();
    using site = await createSite(deviceCount, `${loopback}workers = 1\n${store.tables}`);
    await using first = await startServer(site);
    await using second = await startServer(site);
    await using third = await startServer(site);
    const requests = restEnrolments(site.devices);
    const before = await store.certificates(site.directory);
    const subjects = [[first], [first, second], [first, second, third]].map(
      (servers): Subject => ({
        server: together(servers),
        job: {
          port: first.port,
          ports: servers.map(({ port }) => port),
          connections: servers.length * connections,
          count: perRound,
          requests,
        },
      }),
    );
    for (const { port } of [first, second, third]) {
      await run(load, { port, connections, count: warmUp, requests });
    }
    const measured = await measure(load, subjects, rounds);
    const answered = 3 * (warmUp + rounds * perRound);
    const stored = (await store.certificates(site.directory)) - before;
    if (stored !== answered)
      throw new Error(`${answered} certificates were issued, but ${stored} are stored`);
    const [one] = measured as [Measured, ...Measured[]];
    return measured.map((figures, n) => ({
      title: `REST enrol, ${n + 1} ${n === 0 ? 'gateway' : 'gateways'} on one PostgreSQL`,
      measured: times(figures.ratio),
      remark: `${microseconds(figures.cpu)}, ${times(figures.cpu / one.cpu)} that of one gateway; ${figures.rate.toFixed(0)}/s, ${figures.median.toFixed(1)} ms, 99 % in ${figures.slowest.toFixed(1)} ms`,
      figures,
    }));
  },
};

const together = (servers: readonly Server[]): Pick<Server, 'cpuTime'> => ({
  cpuTime: () => servers.reduce((sum, server) => sum + server.cpuTime(), 0),
});
