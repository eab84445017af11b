import { expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import { Clock, Connection } from '#adapters/inbound/http/connection.ts';
import type { SocketPeer } from '#adapters/inbound/http/evidence.ts';
import type { HttpRequest } from '#adapters/inbound/http/exchange.ts';
import { defaultLimits } from '#adapters/inbound/http/limits.ts';
import { Reception } from '#adapters/inbound/http/reception.ts';

const pieces = 200;
const head = { method: 'POST', target: '/', old: false, fields: [], persists: true };

test('a body in pieces is not held a second time while its request is answered', async () => {
  const seen = Promise.withResolvers<HttpRequest>();
  const released = Promise.withResolvers<void>();
  const answer = { status: 200, headers: {}, body: '' };
  const mount = {
    prefix: '/',
    plainHttp: true,
    bodyLimit: pieces,
    refuse: () => answer,
    async handle(request: HttpRequest) {
      seen.resolve(request);
      await released.promise;
      return answer;
    },
  };
  const peer = { address: '192.0.2.1', secure: true, certificates: [] } as unknown as SocketPeer;
  const socket = { write: () => true, destroySoon() {} } as unknown as Socket;
  const connection = new Connection(socket, peer, new Clock(), defaultLimits);
  const request = { method: 'POST', path: '/', query: '', headers: {}, body: new Uint8Array(), peer };
  const reception = new Reception(connection, head, { mount, request, limit: pieces }, () => {});
  const held = received(reception);
  expect((await seen.promise).body).toHaveLength(pieces);
  await Bun.sleep(1);
  Bun.gc(true);
  // Some may still stand on the stack.
  expect(held.filter((piece) => piece.deref()).length).toBeLessThan(pieces / 10);
  released.resolve();
});

function received(reception: Reception): readonly WeakRef<Uint8Array>[] {
  const held = Array.from({ length: pieces }, () => {
    const piece = new Uint8Array(1);
    reception.take(piece);
    return new WeakRef(piece);
  });
  reception.end();
  return held;
}
