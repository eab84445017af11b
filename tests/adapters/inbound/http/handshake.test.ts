import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Listener } from '#adapters/inbound/http/listener.ts';
import { connectSecure, type Identity, issue, mount, open, request, talk, text } from './fixture.ts';

const digest = (der: Uint8Array): string => createHash('sha256').update(der).digest('hex');

const root = issue('root', { ca: true });
const outer = issue('outer', { ca: true, issuer: root });
const inner = issue('inner', { ca: true, issuer: outer });
const device = issue('device', { issuer: inner });
const expired = issue('expired', { issuer: inner, notAfter: Date.UTC(2021, 0) });
const selfSigned = issue('self-signed');
const stranger = issue('stranger', { ca: true });

const clients: readonly { name: string; chain: readonly Identity[] }[] = [
  { name: 'two intermediates, leaf first', chain: [device, inner, outer] },
  { name: 'the root as well', chain: [device, inner, outer, root] },
  { name: 'intermediates in disorder', chain: [device, outer, inner] },
  { name: 'a certificate that belongs to no path', chain: [device, stranger, inner] },
  { name: 'an expired leaf', chain: [expired, inner, outer] },
  { name: 'a self-signed leaf', chain: [selfSigned] },
  { name: 'no certificate', chain: [] },
];

let listener: Listener;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'postern-handshake-'));
  listener = await open([
    mount('/', ({ peer }) => text(JSON.stringify(peer.certificates.map((der) => digest(der))))),
  ]);
});
afterAll(async () => {
  await listener.close(0);
  await rm(directory, { recursive: true });
});

/** Sends a request with `openssl s_client`; returns the response and whether the session in `session` was resumed. */
async function ask(
  version: string,
  chain: readonly Identity[],
  session: string[],
): Promise<[boolean, unknown]> {
  const args = [version, ...session];
  const [leaf, ...others] = chain;
  if (leaf) {
    const file = join(directory, 'client.pem');
    await Bun.write(file, leaf.pem + leaf.key.pem());
    args.push('-cert', file, '-key', file);
  }
  if (others.length > 0) {
    const file = join(directory, 'chain.pem');
    await Bun.write(file, others.map((identity) => identity.pem).join(''));
    args.push('-cert_chain', file);
  }
  const client = Bun.spawn(
    ['openssl', 's_client', '-connect', `127.0.0.1:${listener.httpsPort}`, '-ign_eof', ...args],
    { stdin: Buffer.from(request('GET /')), stdout: 'pipe', stderr: 'ignore' },
  );
  const output = await new Response(client.stdout).text();
  await client.exited;
  const seen = /^\[(?:"[0-9a-f]{64}",?)*\]/m.exec(output);
  return [/^Reused, /m.test(output), JSON.parse(seen?.[0] ?? 'null')];
}

for (const version of ['-tls1_2', '-tls1_3']) {
  for (const { name, chain } of clients) {
    test(`a client's chain is available as sent, with and without resumption (${version.slice(1)}): ${name}`, async () => {
      const session = join(directory, `${version}.session`);
      const sent = chain.map((identity) => digest(identity.certificate));
      expect(await ask(version, chain, ['-sess_out', session])).toEqual([false, sent]);
      expect(await ask(version, chain, ['-sess_in', session])).toEqual([true, sent]);
    });
  }
}

for (const type of ['p-384', 'p-521', 'ed25519', 'rsa-2048'] as const) {
  test(`a device with a key of type ${type} can present its certificate`, async () => {
    const client = issue(`device-${type}`, { type });
    for (const version of ['-tls1_2', '-tls1_3']) {
      expect(await ask(version, [client], [])).toEqual([false, [digest(client.certificate)]]);
    }
  });
}

test('a chain longer than ten certificates is truncated', async () => {
  const chain = [device, ...Array.from({ length: 14 }, () => inner)];
  const [, seen] = await ask('-tls1_3', chain, []);
  expect(seen).toHaveLength(10);
});

test('the certificates are available for every request of the connection', async () => {
  const socket = connectSecure(listener.httpsPort, { cert: device.pem + inner.pem, key: device.key.pem() });
  const answers = await talk(socket, `GET / HTTP/1.1\r\nHost: pki\r\n\r\n${request('GET /')}`);
  const sent = JSON.stringify([digest(device.certificate), digest(inner.certificate)]);
  expect(answers.split(sent)).toHaveLength(3);
});
