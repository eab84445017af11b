import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodePem } from '#adapters/wire/pem.ts';
import { freePorts } from '#tests/fixtures/ports.ts';
import { type Measured, measure, median, run } from '../measure.ts';
import { newEnrolments } from '../requests.ts';
import { startServer } from '../server.ts';
import { administer, createSite, type Site } from '../site.ts';
import { type Case, connections, deviceCount, loopback, microseconds, times } from './case.ts';

/**
 * Compares the same enrolments signed by the gateway itself, and forwarded over CMP to a second Postern. The CPU time is that of
 * the first gateway only.
 */
export const upstreamCase: Case = {
  name: 'upstream-cmp',
  async run(load, { warmUp, perRound, rounds }) {
    const [port] = (await freePorts(1)) as [number];
    using above = await createSite(1, loopback);
    const root = await offerForwarded(above);
    await using upstream = await startServer(above, port);
    using here = await createSite(deviceCount, loopback);
    using through = await createSite(deviceCount, loopback + issuerTable(above, root, port));
    await administer(through, async (gateway, operator) => {
      const ca = await gateway.issuingCas.create(operator, { uniqueName: 'up', type: 5, issuer: 'up' });
      await gateway.domains.update(operator, 1, { issuingCa: ca.id });
    });
    await using signing = await startServer(here);
    await using passing = await startServer(through);
    const places = [
      { server: signing, site: here },
      { server: passing, site: through },
    ];
    let from = 0;
    const subjects = (count: number) => {
      const made = places.map(({ server, site: { devices } }) => ({
        server,
        job: { port: server.port, connections, count, requests: newEnrolments(devices, from, count) },
      }));
      from += count;
      return made;
    };
    const count = Math.ceil(perRound / 5);
    for (const { job } of subjects(Math.ceil(warmUp / 10))) await run(load, job);
    const measured: (readonly Measured[])[] = [];
    const before = upstream.cpuTime();
    for (let n = 0; n < rounds; n++) measured.push(await measure(load, subjects(count), 1));
    const atUpstream = (upstream.cpuTime() - before) / (rounds * count);
    const [own, passed] = [0, 1].map((which) => median(measured.map((round) => round[which]!.cpu))) as [
      number,
      number,
    ];
    return [
      {
        title: 'REST enrol, SQLite: forwarded over CMP (MAC, confirmed) compared to signed locally',
        measured: times(passed / own),
        remark: `${microseconds(passed)} against ${microseconds(own)}: ${microseconds(passed - own)} added; the upstream itself ${microseconds(atUpstream)}`,
        figures: { measured, atUpstream },
      },
    ];
  },
};

/** Creates a profile that keeps the requested names. Returns the root certificate (DER). */
const offerForwarded = (site: Site): Promise<Uint8Array> =>
  administer(site, async (gateway, operator) => {
    const profile = await gateway.profiles.create(operator, {
      uniqueName: 'forwarded',
      profile: {
        validity: { duration: 'P30D' },
        subject: { CN: {} },
        extensions: {
          basicConstraints: { ca: false },
          keyUsage: { fixed: ['digitalSignature'], unfit: 'drop' },
          extendedKeyUsage: { fixed: ['clientAuth'], unfit: 'drop' },
        },
      },
    });
    const { profiles } = await gateway.domains.read(operator, 1);
    const more = [...profiles, { profile: profile.id, alias: null }];
    await gateway.domains.update(operator, 1, { profiles: more });
    const [root] = (await gateway.issuingCas.list(operator, { limit: 1 })).records;
    return (await gateway.issuingCas.read(operator, root!.id)).chain.at(-1) ?? root!.certificate;
  });

function issuerTable({ directory, devices: [gateway] }: Site, root: Uint8Array, port: number): string {
  const file = join(directory, 'bench-root.pem');
  writeFileSync(file, encodePem('CERTIFICATE', root));
  const settings = {
    plugin: 'remote-cmp',
    url: `http://127.0.0.1:${port}/.well-known/cmp/p/default/forwarded`,
    reference: gateway!.name,
    secret: gateway!.sharedSecret,
    mac_iterations: 100,
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
  return `[issuers.up]\n${lines.join('')}trust = { file = ${JSON.stringify(file)} }\n`;
}
