import { expect, test } from 'bun:test';
import { createHealth } from '#adapters/inbound/health/health.ts';
import type { Gateway } from '#core/gateway.ts';
import { readiness } from '#core/health/readiness.ts';
import type { Health } from '#core/ports/platform.ts';

const ok = { ok: true };

async function ask(path: string, checks: Readonly<Record<string, () => Promise<Health>>>, method = 'GET') {
  const gateway = { readiness: readiness(Object.entries(checks)) } as Gateway;
  const mount = createHealth(gateway).find(({ prefix }) => path.startsWith(prefix))!;
  expect(mount.plainHttp).toBe(true);
  const peer = { address: '192.0.2.1', secure: false, certificates: [] };
  const body = new Uint8Array();
  const response = await mount.handle({ method, path, query: '', headers: {}, body, peer });
  return [response.status, response.body];
}

const healthy = { store: async () => ok };
const failing = {
  store: async () => ({ ok: false, detail: 'the disk is full' }),
  'keys.hsm': () => Promise.reject(new Error('gone')),
};

test('liveness depends on nothing, and readiness names what is missing', async () => {
  expect(await ask('/livez', failing)).toEqual([200, 'ok\n']);
  expect(await ask('/readyz', failing)).toEqual([503, 'store: the disk is full\nkeys.hsm: unavailable\n']);
  expect(await ask('/readyz/', healthy)).toEqual([200, 'ok\n']);
});

test('an unavailable upstream CA or a damaged record does not make a gateway unready', async () => {
  const bad = async () => ({ ok: false, detail: 'x' });
  expect(await ask('/readyz', { ...healthy, configuration: bad, 'issuers.plant': bad })).toEqual([
    200,
    'ok\n',
  ]);
});

test('other paths are not served', async () => {
  expect(await ask('/readyz/x', healthy)).toEqual([404, 'not found\n']);
  expect(await ask('/livez', healthy, 'POST')).toEqual([405, 'method not allowed\n']);
});

test('concurrent requests share one check', async () => {
  let looks = 0;
  const look = readiness([
    [
      'store',
      async () => {
        looks++;
        await new Promise(setImmediate);
        return ok;
      },
    ],
  ]);
  await Promise.all(Array.from({ length: 20 }, look));
  expect(looks).toBe(1);
  expect(await look()).toEqual({ ready: true, checks: { store: ok } });
  expect(looks).toBe(2);
});
