import { createRest } from '#adapters/inbound/rest/mount.ts';
import type { Gateway } from '#core/gateway.ts';
import { catalog } from '#plugins/catalog.ts';
import { loadConfiguration } from '#plugins/host/config-file.ts';
import { addresses, openService } from '#plugins/host/service.ts';
import { cryptographicLimit } from '../limit.ts';
import { measure, median, run } from '../measure.ts';
import type { Result } from '../report.ts';
import { restEnrolments } from '../requests.ts';
import { startServer } from '../server.ts';
import { createSite, type Site } from '../site.ts';
import { type Case, connections, deviceCount, type Extent, loopback, microseconds, times } from './case.ts';

/** Performs the n-th operation. */
type Work = (n: number) => Promise<unknown>;

interface Layer {
  /** Microseconds of CPU time per request. */
  readonly cpu: number;
  readonly ratio: number;
}

/** Measures where the time of a REST enrolment on SQLite goes. Each layer includes those before it. */
export const layersCase: Case = {
  name: 'layers',
  async run(load, extent) {
    using site = await createSite(deviceCount, loopback);
    const [admitted, enrolled] = await withoutListener(site, extent);
    await using server = await startServer(site);
    const requests = restEnrolments(site.devices);
    const job = { port: server.port, connections, count: extent.perRound, requests };
    await run(load, { ...job, count: extent.warmUp });
    const [whole] = await measure(load, [{ server, job }], extent.rounds);
    return [
      result('authentication (admit)', admitted!),
      result('and issuance, with the certificate stored', enrolled!),
      result('and the listener, with TLS and HTTP', whole!),
    ];
  },
};

function result(title: string, layer: Layer): Result {
  return {
    title: `REST enrol: ${title}`,
    measured: times(layer.ratio),
    remark: microseconds(layer.cpu),
    figures: layer,
  };
}

async function withoutListener(site: Site, extent: Extent): Promise<readonly Layer[]> {
  const loaded = await loadConfiguration({ data: site.directory, config: site.config }, catalog);
  await using stack = new AsyncDisposableStack();
  const where = addresses(loaded.configuration, { https: 8443, http: 8080 });
  const { gateway } = await openService(loaded, where, { logToStderr: false }, stack);
  const layers: Layer[] = [];
  for (const work of [admissions(gateway, site), enrolments(gateway, site)]) {
    await perform(work, extent.warmUp);
    const rounds: Layer[] = [];
    for (let n = 0; n < extent.rounds; n++) rounds.push(await round(work, extent.perRound));
    layers.push({
      cpu: median(rounds.map(({ cpu }) => cpu)),
      ratio: median(rounds.map(({ ratio }) => ratio)),
    });
  }
  return layers;
}

function admissions(gateway: Gateway, { devices }: Site): Work {
  const target = { protocol: 'rest', domain: 'default', profile: undefined } as const;
  return (n) => {
    const { name: username, password } = devices[n % devices.length]!;
    return gateway.admit({ kind: 'password', username, password, address: '127.0.0.1' }, target);
  };
}

function enrolments(gateway: Gateway, { devices }: Site): Work {
  const rest = createRest(gateway);
  const peer = { address: '127.0.0.1', secure: true, certificates: [] };
  const requests = restEnrolments(devices).map((text) => {
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const [line = '', ...fields] = head.split('\r\n');
    const headers = Object.fromEntries(
      fields.map((field) => [
        field.slice(0, field.indexOf(':')).toLowerCase(),
        field.slice(field.indexOf(':') + 2),
      ]),
    );
    return { method: 'POST', path: line.split(' ')[1]!, query: '', headers, body: Buffer.from(body), peer };
  });
  return async (n) => {
    const { status } = await rest.handle(requests[n % requests.length]!);
    if (status !== 200) throw new Error(`an enrolment failed with status ${status}`);
  };
}

async function round(work: Work, count: number): Promise<Layer> {
  const limitBefore = cryptographicLimit(3000);
  const before = process.cpuUsage();
  await perform(work, count);
  const { user, system } = process.cpuUsage(before);
  const cpu = (user + system) / count;
  return { cpu, ratio: (2 * cpu) / (limitBefore + cryptographicLimit(3000)) };
}

/** Performs `count` operations, as many at a time as the load generator has connections. */
async function perform(work: Work, count: number): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      await work(next++);
      // The next operation begins in another turn of the event loop, as requests do.
      await new Promise(setImmediate);
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
}
