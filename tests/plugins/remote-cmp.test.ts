import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openKeyFiles } from '#adapters/outbound/keyfile/key-files.ts';
import { systemEntropy } from '#adapters/outbound/system/platform.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { toFault } from '#core/fault.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import { fingerprint } from '#core/x509/certificate.ts';
import { readPublicKey } from '#core/x509/public-key.ts';
import { verifyPkcs10 } from '#core/x509/request.ts';
import { remoteCmp } from '#plugins/builtin/remote-cmp.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import { openingMessage } from '#tests/fixtures/cmp-client.ts';
import { type CmpUpstream, cmpUpstream } from '#tests/fixtures/cmp-upstream.ts';
import { request as pkcs10, testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { pem } from '#tests/fixtures/openssl.ts';
import { orderOf } from '#tests/fixtures/remote-cmp.ts';

type Config = Parameters<typeof remoteCmp.open>[0];

const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
const clock = testClock();
const vault = createVault(new Uint8Array(32));
let keys: KeyStore;
let upstream: CmpUpstream;
let trust: { readonly fingerprint: string };
const certificateFor = (spki: Uint8Array): Uint8Array =>
  upstream.ca.certify({
    ...verifyPkcs10(pkcs10(testKey('p-256'), 'CN=gateway')),
    publicKey: readPublicKey(spki),
  });

beforeAll(async () => {
  upstream = await cmpUpstream(clock.now);
  keys = await openKeyFiles({ directory: join(directory, 'keys'), vault });
  trust = { fingerprint: fingerprint(upstream.ca.root) };
});
afterAll(async () => {
  await keys.close();
  await upstream[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const open = (config: Config) =>
  remoteCmp.open(config, {
    name: 'corp',
    dataDirectory: directory,
    log: recordingLog(),
    clock,
    entropy: systemEntropy,
    vault,
    keyStores: new Map([['files', keys]]),
  });
const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};
const wish = () => orderOf(verifyPkcs10(pkcs10(testKey('p-256', 'pump'), 'CN=pump-1')));
const whole = () => [upstream.ca.issuing, upstream.ca.root];

describe('an upstream CA over CMP in the configuration', () => {
  test('uses a shared secret with both kinds of MAC, and trusts a fingerprint or none', async () => {
    const own = { url: upstream.url, reference: 'gateway', secret: upstream.secret };
    for (const config of [
      own,
      { ...own, trust },
      { ...own, mac: 'pbmac1', mac_iterations: 200 },
      { ...own, url: new URL(upstream.url).origin, path: '/pkix' },
      { ...own, trust: { file: file('root.pem', pem('CERTIFICATE', upstream.ca.root)) } },
    ] satisfies Config[]) {
      const issuer = await open(config);
      expect(await issuer.chain()).toEqual(whole());
      expect((await issuer.issue(wish())).kind).toBe('issued');
    }
  });

  test('gets messageTime unless the configuration omits it', async () => {
    const own = { url: upstream.url, reference: 'gateway', secret: upstream.secret };
    for (const message_time of [undefined, true, false]) {
      const issuer = await open({ ...own, ...(message_time !== undefined && { message_time }) });
      await issuer.issue(wish());
      expect(upstream.received.at(-1)!.header.messageTime !== undefined).toBe(message_time !== false);
    }
  });

  test('uses a certificate whose key is in a file or in a key store', async () => {
    const key = testKey('p-384', 'gateway');
    const inFile = {
      client_certificate: file('ra.pem', pem('CERTIFICATE', certificateFor(key.publicKey.spki))),
      client_key: file('ra.key', key.pem()),
    };
    const { id, spki } = await keys.generate('p-256', 'upstream');
    const inStore = {
      client_certificate: file('held.pem', pem('CERTIFICATE', certificateFor(spki))),
      client_key_store: 'files',
      client_key_id: id,
    };
    for (const own of [inFile, inStore]) {
      const issuer = await open({ url: upstream.url, trust, ...own });
      expect(await issuer.chain()).toEqual(whole());
      expect((await issuer.issue(wish())).kind).toBe('issued');
      expect(await issuer.health()).toEqual({ ok: true });
    }
  });

  test('gets messages of devices in each configured form', async () => {
    const own = testKey('p-256', 'gateway');
    const certificate = certificateFor(own.publicKey.spki);
    const config = {
      url: upstream.url,
      trust,
      client_certificate: file('nesting.pem', pem('CERTIFICATE', certificate)),
      client_key: file('nesting.key', own.pem()),
    };
    const { prepared, operation } = wish();
    const body = { type: 'p10cr', request: prepared.request!.der } as const;
    const message = await openingMessage({ certificate, key: own }, body);
    for (const [forward, nested] of [
      [undefined, false],
      ['request', false],
      ['nested', true],
      ['nested-only', true],
    ] as const) {
      const before = upstream.received.length;
      const issuer = await open({ ...config, ...(forward && { forward }) });
      expect((await issuer.issue({ prepared, operation, message })).kind).toBe('issued');
      expect(upstream.received.slice(before).some(({ bodyType }) => bodyType === 'nested')).toBe(nested);
    }
  });

  test('reports at first use that a key is missing or does not match the certificate', async () => {
    const { id } = await keys.generate('p-256', 'another');
    const client_certificate = file('other.pem', pem('CERTIFICATE', upstream.ca.issuing));
    for (const [client_key_id, detail] of [
      [id, 'the key for the upstream CA does not match client_certificate'],
      ['nobody', 'the key for the upstream CA: '],
    ] as const) {
      const config = {
        url: upstream.url,
        trust,
        client_certificate,
        client_key_store: 'files',
        client_key_id,
      };
      const issuer = await open(config);
      const fault = await issuer.chain().then(() => undefined, toFault);
      expect([fault?.code, fault?.detail.slice(0, detail.length)]).toEqual(['unavailable', detail]);
    }
  });

  const url = 'https://ca.example';
  const secret = { reference: 'gateway', secret: 'secret' };
  const certificate = () => file('any.pem', pem('CERTIFICATE', Uint8Array.of(0x30, 0)));
  const key = () => file('any.key', testKey('p-256').pem());
  for (const [what, config] of [
    ['reference and secret must be set together', () => ({ url, reference: 'gateway' })],
    ['set either secret or client_certificate, not both', () => ({ url, ...secret, client_key: key() })],
    ['set reference and secret, or client_certificate and client_key', () => ({ url })],
    [
      'client_certificate needs client_key, or client_key_store',
      () => ({ url, client_certificate: certificate() }),
    ],
    [
      'set client_key_store and client_key_id together, and not client_key',
      () => ({ url, client_certificate: certificate(), client_key_store: 'files' }),
    ],
    [
      'client_key_store must name a configured key store',
      () => ({ url, client_certificate: certificate(), client_key_store: 'hsm', client_key_id: 'x' }),
    ],
    [
      'trust needs a file, a fingerprint or a certificate: without it no response can be verified',
      () => ({ url, client_certificate: certificate(), client_key: key() }),
    ],
    [
      'trust must have either a file or a fingerprint, not both',
      () => ({ url, ...secret, trust: { file: certificate(), fingerprint: 'AB'.repeat(32) } }),
    ],
    [
      'trust.server_name needs trust.file or trust.fingerprint',
      () => ({ url, ...secret, trust: { server_name: 'CN=x' } }),
    ],
    [
      'poll_least_seconds must not be greater than poll_most_seconds',
      () => ({ url, ...secret, poll_least_seconds: 9, poll_most_seconds: 8 }),
    ],
    [
      'forward needs a client_certificate: nested messages are signed',
      () => ({ url, ...secret, forward: 'nested' }),
    ],
    [
      'mac_iterations must not be greater than 100000 for password-based-mac',
      () => ({ url, ...secret, mac_iterations: 100_001 }),
    ],
  ] as const satisfies readonly (readonly [string, () => Config])[]) {
    test(`is rejected: ${what}`, async () => {
      const error = await open(config()).then(
        () => undefined,
        (thrown: Error) => thrown,
      );
      expect(error?.message).toBe(what);
    });
  }
});
