import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { fingerprint } from '#core/x509/certificate.ts';
import { remoteEst } from '#plugins/builtin/remote-est.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import { estUpstream } from '#tests/fixtures/est-upstream.ts';
import { testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { pem } from '#tests/fixtures/openssl.ts';

const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
afterAll(() => rmSync(directory, { recursive: true }));
const clock = testClock();
const surroundings = {
  name: 'plant',
  dataDirectory: directory,
  log: recordingLog(),
  clock,
  entropy: { bytes: (length: number) => new Uint8Array(length) },
  vault: createVault(new Uint8Array(32)),
};
const open = (config: Parameters<typeof remoteEst.open>[0]) => remoteEst.open(config, surroundings);
const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};

describe('an upstream CA over EST in the configuration', () => {
  test('is called at the default path, at another path, and with a label', async () => {
    await using upstream = await estUpstream(clock.now);
    const { origin } = new URL(upstream.url);
    const trust = { file: file('root.pem', pem('CERTIFICATE', upstream.root)) };
    for (const [url, label] of [
      [origin, undefined],
      [`${origin}/`, 'plant'],
      [upstream.url, 'default/~tls_client'],
      [`${upstream.url}/more/`, undefined],
    ] as const) {
      const issuer = await open({ url, trust, ...(label !== undefined && { label }) });
      expect(await issuer.chain()).toEqual([upstream.issuing, upstream.root]);
    }
  });

  test('is trusted by a fingerprint with colons or without, in any case', async () => {
    await using upstream = await estUpstream(clock.now);
    const sha256 = fingerprint(upstream.root);
    for (const written of [sha256, sha256.toLowerCase(), sha256.replace(/..(?=.)/g, '$&:')]) {
      const issuer = await open({ url: upstream.url, trust: { fingerprint: written } });
      expect(await issuer.chain()).toHaveLength(2);
    }
  });

  const url = 'https://ca.example';
  const root = () => file('some.pem', pem('CERTIFICATE', Uint8Array.of(0x30, 0)));
  const key = () => file('some.key', testKey('p-256').pem());
  for (const [what, config] of [
    ['username and password must be set together', () => ({ url, username: 'ra' })],
    [
      'client_name needs username and password, and cannot be combined with client_certificate',
      () => ({ url, client_name: 'gateway' }),
    ],
    ['client_certificate and client_key must be set together', () => ({ url, client_key: key() })],
    [
      'trust must have either a file or a fingerprint, not both',
      () => ({ url, trust: { file: root(), fingerprint: 'AB'.repeat(32) } }),
    ],
    [
      'retry_after_least_seconds must not be greater than retry_after_most_seconds',
      () => ({ url, retry_after_least_seconds: 9, retry_after_most_seconds: 8 }),
    ],
  ] as const) {
    test(`is rejected: ${what}`, async () => {
      await expect(open(config())).rejects.toThrow(what);
    });
  }
});
