import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { exchange } from '#adapters/outbound/upstream/exchange.ts';

// An upstream server of raw octets, which writes what the test says.
let server: Server;
let write: (connection: Socket) => void;
let connections = 0;
beforeAll(async () => {
  server = createServer((connection) => {
    connections++;
    connection.on('error', () => {});
    connection.once('data', () => write(connection));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => server.close());

const ask = () =>
  exchange(
    {
      url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
      method: 'POST',
      headers: {},
      body: 'a request',
      redirects: false,
    },
    { anchors: 'system' },
    AbortSignal.timeout(2000),
  );

const framings = {
  'of a known length, the last one': (body: string) =>
    `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  'of a known length': (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  'in chunks': (body: string) =>
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
} as const;

describe.each(Object.entries(framings))('a response %s', (_, framed) => {
  test.each([
    ['small', 10, true],
    ['large', 300_000, true],
    ['on a connection that stays open', 10, false],
  ] as const)(
    'that is written twice is read once, and the next response is the right one: %s',
    async (_, octets, ends) => {
      for (const letter of ['a', 'b', 'c']) {
        const before = connections;
        write = (connection) => {
          const one = framed(letter.repeat(octets));
          connection.write(one + one);
          if (ends) connection.end();
        };
        const { status, body } = await ask();
        expect([status, Buffer.from(body).toString()]).toEqual([200, letter.repeat(octets)]);
        expect(connections).toBe(before + 1);
      }
    },
  );

  test('that is followed by another one is used, and the other one is ignored', async () => {
    write = (connection) => connection.end(framed('mine') + framed('another').replace('200 OK', '403 No'));
    const { status, body } = await ask();
    expect([status, Buffer.from(body).toString()]).toEqual([200, 'mine']);
  });

  test('that is truncated is rejected, whatever its contents', async () => {
    const one = framed('x'.repeat(1000));
    write = (connection) => connection.end(one.slice(0, -500));
    expect(await ask().catch(({ code }) => code)).toBe('unavailable');
  });
});
