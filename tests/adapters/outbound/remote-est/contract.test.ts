import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { fingerprint } from '#core/x509/certificate.ts';
import { issuerContract } from '#tests/contracts/issuer.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import { answer, estUpstream, type Script } from '#tests/fixtures/est-upstream.ts';
import { testClock } from '#tests/fixtures/installation.ts';
import { remoteEst } from '#tests/fixtures/plant.ts';

const scripts: Readonly<Record<string, Script>> = {
  defer: () => answer(202, 'later', { 'retry-after': '7' }),
  refuse: () => answer(403, 'no'),
  fail: () => answer(502),
  hang: () => new Promise(() => {}),
  babble: () => answer(200, 'babble'),
};

issuerContract('remote-est', 'upstream', async () => {
  const clock = testClock();
  const upstream = await estUpstream(clock.now);
  const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
  const surroundings = { directory, vault: createVault(new Uint8Array(32)), clock, log: recordingLog() };
  const trust = { kind: 'fingerprint', sha256: fingerprint(upstream.root) } as const;
  return {
    issuer: remoteEst(surroundings, { url: upstream.url, trust, timeout: 2500 }),
    now: clock.now,
    behave: (...behaviours) => upstream.script(...behaviours.map((one) => scripts[one]!)),
    async close() {
      await upstream[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true });
    },
  };
});
