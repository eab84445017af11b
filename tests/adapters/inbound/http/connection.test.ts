import { afterAll, describe, expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import type { Listener } from '#adapters/inbound/http/listener.ts';
import { connectPlain, connectSecure, mount, open, request, statusOf, talk, text, until } from './fixture.ts';

const never = 600_000;
const patient = { handshakeMs: never, headerMs: never, bodyMs: never, idleMs: never, lingerMs: 100 };
type Limits = typeof patient;

/** The promise that the mount waits for before it responds to /?held. */
const held = Promise.withResolvers<void>();
const opened: Promise<Listener>[] = [];

/** Opens a listener with these limits only, so that any cut is due to them. */
function limited(limits: Partial<Limits>): Promise<Listener> {
  const wait = mount('/', async ({ query }) => {
    if (query === 'held') await held.promise;
    return text('done');
  });
  const listener = open([wait], { limits: { ...patient, ...limits } });
  opened.push(listener);
  return listener;
}
afterAll(async () => {
  for (const listener of opened) await (await listener).close(0);
});

const shortHandshake = limited({ handshakeMs: 200 });
// Long enough for a client of a busy machine to send what it sends at once.
const shortHeader = limited({ headerMs: 1500 });
const shortBody = limited({ bodyMs: 1500 });
const shortIdle = limited({ idleMs: 1500 });
const allShort = limited({ handshakeMs: 1500, headerMs: 1500, bodyMs: 1500, idleMs: 1500 });

const keepAlive = (query = ''): string => `GET /?${query} HTTP/1.1\r\nHost: pki\r\n\r\n`;

/** Sends `octets` repeatedly; resolves to what was received when the connection is cut. */
async function trickled(socket: Socket, first: string, octets: string): Promise<string> {
  const trickle = setInterval(() => socket.write(octets), 20);
  const received = await talk(socket, first);
  clearInterval(trickle);
  return received;
}

describe.concurrent.each([
  ['HTTPS', ({ httpsPort }: Listener) => connectSecure(httpsPort)],
  ['plain HTTP', ({ httpPort }: Listener) => connectPlain(httpPort!)],
])('%s cuts a connection', (_scheme, connect) => {
  test('that sends nothing', async () => {
    expect(await talk(connect(await shortHeader), '')).not.toContain('200 OK');
  });

  test('whose header does not end', async () => {
    expect(await talk(connect(await shortHeader), 'GET / HTTP/1.1\r\nHost: pki\r\n')).not.toContain('200 OK');
  });

  test('whose header is sent too slowly', async () => {
    expect(await trickled(connect(await shortHeader), 'GET / HTTP/1.1\r\n', 'X: a\r\n')).not.toContain(
      '200 OK',
    );
  });

  test('whose body is sent too slowly, after 408 in the form of its mount', async () => {
    const received = await trickled(
      connect(await shortBody),
      request('POST /', ['Content-Length: 500']),
      'a',
    );
    expect(statusOf(received)).toBe(408);
    expect(received).toMatch(/^x-form: \//im);
  });

  test('that is idle between requests', async () => {
    expect(await talk(connect(await shortIdle), keepAlive())).toContain('done');
  });

  test('whose next header is sent too slowly', async () => {
    const socket = connect(await shortHeader);
    const ended = talk(socket, keepAlive());
    await until(socket, 'done');
    socket.write('GET');
    expect(await ended).toContain('done');
  });

  test('but not one that is idle for longer than a header may take', async () => {
    const listener = await shortHeader;
    const idle = connect(listener);
    idle.write(keepAlive());
    await until(idle, 'done');
    // As long as two headers may take, one after the other.
    for (let n = 0; n < 2; n++) await talk(connect(listener), '');
    idle.write(keepAlive());
    await until(idle, 'done');
    idle.destroy();
  });
});

test.concurrent('a TCP connection without a TLS handshake is cut', async () => {
  const { httpsPort } = await shortHandshake;
  await talk(connectPlain(httpsPort), '');
  await talk(connectPlain(httpsPort), '\x16\x03\x01');
});

test.concurrent('octets that are not a handshake cut the connection before the handshake times out', async () => {
  const { httpsPort } = await shortIdle;
  expect(await talk(connectPlain(httpsPort), keepAlive())).not.toContain('HTTP/1.1 200');
});

test.concurrent('a mount may take longer than all these limits', async () => {
  const listener = await allShort;
  const received = talk(connectSecure(listener.httpsPort), request('GET /?held'));
  await talk(connectSecure(listener.httpsPort), keepAlive());
  await talk(connectSecure(listener.httpsPort), keepAlive());
  held.resolve();
  expect(await received).toEndWith('done');
});

test.concurrent('a connection in use stays open', async () => {
  const { httpsPort } = await allShort;
  const socket = connectSecure(httpsPort);
  let isCut = false;
  const idle = talk(connectSecure(httpsPort), keepAlive()).then(() => {
    isCut = true;
  });
  for (let more = 2; more > 0; ) {
    if (isCut) more--;
    socket.write(keepAlive());
    await until(socket, 'done');
    await Bun.sleep(100);
  }
  await idle;
  expect(socket.destroyed).toBe(false);
  socket.destroy();
});
