import { parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import { CmpClient, type CmpCredential, cr, crmf, ir, issued } from '#tests/fixtures/cmp-client.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { cryptographicLimit, macLimit } from '../limit.ts';
import type { Load } from '../load-process.ts';
import { type Measured, measure, pooled, run } from '../measure.ts';
import type { Result } from '../report.ts';
import { post } from '../requests.ts';
import { startServer } from '../server.ts';
import { createSite, type Device } from '../site.ts';
import { sqlite } from '../store.ts';
import { type Case, connections, type Extent, loopback, microseconds, times } from './case.ts';

const deviceCount = 256;
const keyOf = (n: number) => testKey('p-256', String(n % 64));

interface CmpLoad {
  readonly title: string;
  readonly target?: number;
  /** The least number of verification and signature pairs that an exchange needs. */
  readonly pairs: number;
  /** The least number of MACs that an exchange needs. */
  readonly macs: number;
  readonly path: string;
  /** The credentials with which the devices protect their messages. */
  readonly credentials: (port: number, devices: readonly Device[]) => Promise<readonly CmpCredential[]>;
  readonly body: (device: Device, n: number) => ReturnType<typeof ir>;
}

const secretOf = ({ name, sharedSecret }: Device): CmpCredential => ({
  reference: name,
  secret: sharedSecret,
});

export const cmpCases: readonly Case[] = [
  {
    name: 'cmp-mac',
    run: (load, extent) =>
      exchange(load, extent, {
        title:
          'CMP ir, MAC with 100 iterations, implicitConfirm, SQLite; limit: a verification, a signature, two MACs',
        target: 3.5,
        pairs: 1,
        macs: 2,
        path: '/.well-known/cmp/p/default',
        credentials: async (_, devices) => devices.map(secretOf),
        body: ({ name }, n) => ir(crmf(keyOf(n), { subject: `CN=${name}` })),
      }),
  },
  {
    name: 'cmp-signature',
    run: (load, extent) =>
      exchange(load, extent, {
        title: 'CMP cr, signed, implicitConfirm, SQLite; limit: two verifications and two signatures',
        pairs: 2,
        macs: 0,
        path: '/.well-known/cmp/p/default/tls_client',
        credentials: (port, devices) => Promise.all(devices.map((device, n) => certified(port, device, n))),
        body: ({ name }, n) => cr(crmf(keyOf(n), { subject: `CN=${name}` })),
      }),
  },
];

async function exchange(load: Load, extent: Extent, cmp: CmpLoad): Promise<readonly Result[]> {
  const { title, target } = cmp;
  const parts: Measured[] = [];
  for (let n = 0; n < extent.servers; n++) parts.push(await exchangeWithOne(load, extent, cmp));
  const measured = pooled(parts);
  const { cpu, limit, rate, ratio } = measured;
  return [
    {
      title,
      measured: times(ratio),
      remark: `${microseconds(cpu)}, limit ${microseconds(limit)}; ${rate.toFixed(0)}/s`,
      ...(target !== undefined && { target: `≤ ${target} ×`, met: ratio <= target }),
      figures: measured,
    },
  ];
}

async function exchangeWithOne(
  load: Load,
  { warmUp, rounds, perRound }: Extent,
  cmp: CmpLoad,
): Promise<Measured> {
  using site = await createSite(deviceCount, loopback);
  await using server = await startServer(site);
  const credentials = await cmp.credentials(server.port, site.devices);
  const job = async () => ({
    port: server.port,
    connections,
    count: perRound,
    requests: await messages(cmp, site.devices, credentials, perRound),
  });
  for (let done = 0; done < warmUp; done += perRound) await run(load, await job());
  const before = await sqlite.certificates(site.directory);
  const limit = (count: number) => cmp.pairs * cryptographicLimit(count) + cmp.macs * macLimit(count);
  const parts: Measured[] = [];
  // A message can be used only once, so each round has new messages.
  for (let n = 0; n < rounds; n++)
    parts.push(...(await measure(load, [{ server, job: await job() }], 1, limit)));
  const answered = rounds * perRound;
  const stored = (await sqlite.certificates(site.directory)) - before;
  if (stored !== answered)
    throw new Error(`${answered} certificates were requested, but ${stored} are stored`);
  return pooled(parts);
}

const nowhere = { handle: () => Promise.reject(new Error('the benchmark sends messages itself')) };

/** Returns HTTP requests with CMP messages, each in a transaction of its own. */
const messages = (
  { path, body }: CmpLoad,
  devices: readonly Device[],
  credentials: readonly CmpCredential[],
  count: number,
): Promise<string[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const at = n % devices.length;
      const client = new CmpClient(nowhere, credentials[at]!);
      const message = await client.build(body(devices[at]!, at), { implicitConfirm: true });
      return post(path, { 'Content-Type': 'application/pkixcmp' }, Buffer.from(message).toString('latin1'));
    }),
  );

/** Enrols the device and returns its domain credential. */
async function certified(port: number, device: Device, n: number): Promise<CmpCredential> {
  const key = keyOf(n);
  const client = new CmpClient(nowhere, secretOf(device));
  const request = ir(crmf(key, { subject: `CN=${device.name}` }));
  const response = await fetch(`https://127.0.0.1:${port}/.well-known/cmp/p/default`, {
    method: 'POST',
    headers: { 'content-type': 'application/pkixcmp' },
    body: (await client.build(request, { implicitConfirm: true })).slice(),
    tls: { rejectUnauthorized: false },
  });
  return { certificate: issued(parsePkiMessage(new Uint8Array(await response.arrayBuffer()))), key };
}
