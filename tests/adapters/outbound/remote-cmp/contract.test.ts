import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { issuerContract } from '#tests/contracts/issuer.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import {
  type CmpScript,
  type CmpUpstream,
  cmpResponse,
  cmpUpstream,
  later,
  rejection,
  waiting,
} from '#tests/fixtures/cmp-upstream.ts';
import { testClock } from '#tests/fixtures/installation.ts';
import { byCertificate, bySecret, remoteCmp } from '#tests/fixtures/remote-cmp.ts';

const scripts: Readonly<Record<string, CmpScript>> = {
  defer: (message, say) => (message.body.type === 'pollReq' ? later(7) : waiting)(message, say),
  refuse: (_, say) => say({ type: 'error', status: rejection('notAuthorized', 'no') }),
  fail: () => new Response(null, { status: 502 }),
  hang: () => new Promise(() => {}),
  babble: () => cmpResponse('babble'),
};

const forwarding = { raVerified: false, enrolWith: 'cr', renewWith: 'cr' } as const;

for (const [name, identity, forward] of [
  ['a shared secret', ({ secret }: CmpUpstream) => bySecret(secret), 'request'],
  ['a certificate', (upstream: CmpUpstream) => byCertificate(upstream), 'request'],
  ['nested messages', (upstream: CmpUpstream) => byCertificate(upstream), 'nested'],
] as const) {
  issuerContract(`remote-cmp with ${name}`, 'upstream', async () => {
    const clock = testClock();
    const upstream = await cmpUpstream(clock.now);
    const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
    const surroundings = { directory, vault: createVault(new Uint8Array(32)), clock, log: recordingLog() };
    return {
      issuer: remoteCmp(surroundings, upstream, {
        timeout: 2500,
        identity: identity(upstream),
        forwarding: { ...forwarding, forward },
      }),
      now: clock.now,
      behave: (...behaviours) => upstream.script(...behaviours.map((one) => scripts[one]!)),
      async close() {
        await upstream[Symbol.asyncDispose]();
        rmSync(directory, { recursive: true });
      },
    };
  });
}
