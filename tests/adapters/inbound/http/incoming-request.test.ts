import { expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import { Clock, Connection } from '#adapters/inbound/http/connection.ts';
import type { SocketPeer } from '#adapters/inbound/http/evidence.ts';
import type { HttpRequest } from '#adapters/inbound/http/exchange.ts';
import { IncomingRequest } from '#adapters/inbound/http/incoming-request.ts';
import { defaultLimits } from '#adapters/inbound/http/limits.ts';

const pieces = 200;
const head = { id: '0'.repeat(32), method: 'POST', target: '/', http10: false, fields: [], keepAlive: true };

test('the pieces of a body are released while its request is handled', async () => {
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
  const incoming = new IncomingRequest(
    connection,
    head,
    { mount, request, limit: pieces },
    undefined,
    () => {},
  );
  const held = received(incoming);
  expect((await seen.promise).body).toHaveLength(pieces);
  await Bun.sleep(1);
  Bun.gc(true);
  // A few may still be referenced from the stack.
  expect(held.filter((piece) => piece.deref()).length).toBeLessThan(pieces / 10);
  released.resolve();
});

function received(incoming: IncomingRequest): readonly WeakRef<Uint8Array>[] {
  const held = Array.from({ length: pieces }, () => {
    const piece = new Uint8Array(1);
    incoming.receive(piece);
    return new WeakRef(piece);
  });
  incoming.end();
  return held;
}
