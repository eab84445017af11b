import { expect, spyOn, test } from 'bun:test';
import { Server } from 'node:net';
import { open } from './fixture.ts';

test.each([
  [{}, 10_000],
  [{ limits: { connections: 7 } }, 7],
])('with %j, each server closes connections beyond its limit', async (options, most) => {
  const listening = spyOn(Server.prototype, 'listen');
  const listener = await open([], options);
  const servers = listening.mock.contexts as unknown as Server[];
  listening.mockRestore();
  await listener.close(0);
  expect(servers.map(({ maxConnections }) => maxConnections)).toEqual([most, most]);
});
