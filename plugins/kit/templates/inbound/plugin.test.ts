import { expect, test } from 'bun:test';
import { inboundContract } from 'postern/contracts/inbound';
import { testGateway } from 'postern/contracts/surroundings';
import plugin from './plugin.ts';

const config = { path: '/my-plugin' };

inboundContract('my-plugin', async () => {
  const { remove, ...surroundings } = await testGateway('my-plugin');
  return { inbound: await plugin.open(config, surroundings), close: remove };
});

test('the expiry dates of the CA certificates are in the future', async () => {
  const { remove, ...surroundings } = await testGateway('my-plugin');
  const { mounts } = await plugin.open(config, surroundings);
  const ask = (query: string) =>
    mounts[0]!.handle({
      method: 'GET',
      path: '/my-plugin',
      query,
      headers: {},
      body: new Uint8Array(0),
      peer: { address: '192.0.2.7', secure: true, certificates: [] },
    });
  const { status, body } = await ask('');
  expect(status).toBe(200);
  for (const { not_after: notAfter } of JSON.parse(String(body))) {
    expect(Date.parse(notAfter)).toBeGreaterThan(surroundings.clock.now());
  }
  expect((await ask('domain=elsewhere')).status).toBe(404);
  await remove();
});
