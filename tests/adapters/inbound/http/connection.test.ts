import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import type { Listener } from '#adapters/inbound/http/listener.ts';
import { connectPlain, connectSecure, mount, open, request, statusOf, talk, text, until } from './fixture.ts';

// So far apart that a machine with other work still keeps them in order.
const limits = { handshakeMs: 800, headerMs: 800, bodyMs: 1600, idleMs: 3200, lingerMs: 100 };
let listener: Listener;

beforeAll(async () => {
  const wait = mount('/', async ({ query }) => {
    await Bun.sleep(Number(query));
    return text('done');
  });
  listener = await open([wait], { limits });
});
afterAll(() => listener.close(0));

/** How long `socket` stays open, in milliseconds, and what it received. */
async function life(socket: Socket, octets = ''): Promise<[number, string]> {
  const started = performance.now();
  const received = await talk(socket, octets);
  return [performance.now() - started, received];
}

const within = ([ms]: [number, string], from: number, to: number): void => {
  expect(ms).toBeGreaterThan(from);
  expect(ms).toBeLessThan(to);
};

const secure = (): Socket => connectSecure(listener.httpsPort);
const plain = (): Socket => connectPlain(listener.httpPort!);
const keepAlive = (query: number): string => `GET /?${query} HTTP/1.1\r\nHost: pki\r\n\r\n`;

describe.concurrent.each([
  ['HTTPS', secure],
  ['plain HTTP', plain],
])('%s cuts a connection', (_scheme, connect) => {
  test('that sends nothing', async () => {
    within(await life(connect()), 400, 3_100);
  });

  test('whose header does not come to its end', async () => {
    within(await life(connect(), 'GET / HTTP/1.1\r\nHost: pki\r\n'), 400, 3_100);
  });

  test('whose header trickles in', async () => {
    const socket = connect();
    const trickle = setInterval(() => socket.write('X: a\r\n'), 20);
    within(await life(socket, 'GET / HTTP/1.1\r\n'), 400, 3_100);
    clearInterval(trickle);
  });

  test('whose body trickles in, after 408 in the form of its mount', async () => {
    const socket = connect();
    const trickle = setInterval(() => socket.write('a'), 20);
    const life_ = await life(socket, request('POST /', ['Content-Length: 500']));
    clearInterval(trickle);
    within(life_, 1_200, 12_000);
    expect(statusOf(life_[1])).toBe(408);
    expect(life_[1]).toMatch(/^x-form: \//im);
  });

  test('that is idle between requests, later', async () => {
    within(await life(connect(), keepAlive(0)), 2_800, 15_000);
  });

  test('whose next header trickles in, sooner', async () => {
    const socket = connect();
    const ended = life(socket, keepAlive(0));
    await until(socket, 'done');
    socket.write('GET');
    within(await ended, 400, 3_100);
  });
});

test.concurrent('a TCP connection without a handshake is cut', async () => {
  within(await life(connectPlain(listener.httpsPort)), 400, 3_100);
  within(await life(connectPlain(listener.httpsPort), '\x16\x03\x01'), 400, 3_100);
});

test.concurrent('what is no handshake is cut', async () => {
  // Before its time is up, which is longer than any test.
  const patient = await open([], { limits: { ...limits, handshakeMs: 600_000 } });
  expect((await life(connectPlain(patient.httpsPort), keepAlive(0)))[1]).not.toContain('HTTP/1.1 200');
  await patient.close(0);
});

test.concurrent('a mount may take longer than any of these limits', async () => {
  const [ms, received] = await life(secure(), request('GET /?4000'));
  expect(ms).toBeGreaterThan(3_990);
  expect(received).toEndWith('done');
});

test.concurrent('a connection that is in use lives on', async () => {
  const socket = secure();
  for (let i = 0; i < 4; i += 1) {
    socket.write(keepAlive(0));
    await until(socket, 'done');
    await Bun.sleep(1_200);
  }
  expect(socket.destroyed).toBe(false);
  socket.destroy();
});
