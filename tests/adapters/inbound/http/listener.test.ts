import { describe, expect, test } from 'bun:test';
import { createPrivateKey } from 'node:crypto';
import type { Socket } from 'node:net';
import { type ConnectionOptions, TLSSocket } from 'node:tls';
import { openListener } from '#adapters/inbound/http/listener.ts';
import { Fault } from '#core/fault.ts';
import {
  connectPlain,
  connectSecure,
  credentialOf,
  issue,
  mount,
  open,
  request,
  statusOf,
  talk,
  text,
  until,
} from './fixture.ts';

const hello = mount('/', () => text('hello'));
let begun = 0;
const slow = mount('/', async ({ path, query }) => {
  begun += 1;
  if (path === '/stream') return { status: 200, headers: {}, body: drip(Number(query)) };
  await Bun.sleep(Number(query));
  return text('done');
});
/** Milliseconds. No test waits that long: a listener that closes earlier has waited only for its connections. */
const forever = 600_000;
const keepAlive = (query: number): string => `GET /?${query} HTTP/1.1\r\nHost: pki\r\n\r\n`;

async function* drip(ms: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from('begun');
  await Bun.sleep(ms);
  yield Buffer.from('ended');
}

/** Returns the version, cipher and certificate name of a handshake, or its error. */
function handshake(
  port: number,
  options: ConnectionOptions = {},
): Promise<{ version: unknown; cipher: string; cn: unknown } | string> {
  return new Promise((resolve) => {
    const socket = connectSecure(port, options);
    socket.on('secureConnect', () => {
      resolve({
        version: socket.getProtocol(),
        cipher: socket.getCipher().name,
        cn: socket.getPeerCertificate().subject.CN,
      });
      socket.destroy();
    });
    socket.on('error', (error) => resolve(error.message));
  });
}

describe('TLS', () => {
  test.each([
    ['TLSv1.2', 'ECDHE-ECDSA-AES128-GCM-SHA256', true],
    ['TLSv1.2', 'ECDHE-ECDSA-AES256-GCM-SHA384', true],
    ['TLSv1.2', 'ECDHE-ECDSA-CHACHA20-POLY1305', true],
    ['TLSv1.2', 'ECDHE-ECDSA-AES128-SHA', false],
    ['TLSv1.2', 'ECDHE-ECDSA-AES128-SHA256', false],
    ['TLSv1.3', 'TLS_AES_128_GCM_SHA256', true],
    ['TLSv1.1', 'ECDHE-ECDSA-AES128-SHA', false],
  ])('%s with %s: %p', async (version, cipher, accepted) => {
    await using listener = disposable(await open([hello]));
    const args = [
      '-connect',
      `127.0.0.1:${listener.httpsPort}`,
      `-${version.toLowerCase().replace('v', '').replace('.', '_')}`,
    ];
    const choice = version === 'TLSv1.3' ? ['-ciphersuites', cipher] : ['-cipher', `${cipher}:@SECLEVEL=0`];
    const client = Bun.spawn(['openssl', 's_client', ...args, ...choice], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
    });
    const output = await new Response(client.stdout).text();
    expect(output.includes(`Cipher is ${cipher}`)).toBe(accepted);
  });

  test('is 1.3 where that is the minimum, also with a new credential', async () => {
    const credential = credentialOf(issue('localhost'));
    const https = { port: 0, host: '127.0.0.1', credential, minVersion: 'TLSv1.3' } as const;
    await using listener = disposable(await open([hello], { https }));
    for (const renewed of [false, true]) {
      if (renewed) listener.setCredential(credentialOf(issue('second')));
      expect(await handshake(listener.httpsPort)).toMatchObject({ version: 'TLSv1.3' });
      expect(await handshake(listener.httpsPort, { maxVersion: 'TLSv1.2' })).toBeString();
    }
  });

  test('offers HTTP/1.1 to clients that prefer HTTP/2', async () => {
    await using listener = disposable(await open([hello]));
    const socket = connectSecure(listener.httpsPort, { ALPNProtocols: ['h2', 'http/1.1'] });
    expect(await talk(socket, request('GET /'))).toEndWith('hello');
    expect(socket.alpnProtocol).toBe('http/1.1');
  });
});

describe('a new credential', () => {
  test('is used from the next handshake on, and open connections continue', async () => {
    await using listener = disposable(await open([hello]));
    const before = connectSecure(listener.httpsPort);
    before.write(keepAlive(0));
    await until(before, 'hello');
    for (const name of ['second', 'third']) {
      const next = issue(name, { type: 'p-384' });
      listener.setCredential({ ...credentialOf(next), privateKey: createPrivateKey(next.key.pem()) });
      expect(await handshake(listener.httpsPort)).toMatchObject({ version: 'TLSv1.3', cn: name });
      expect(await handshake(listener.httpsPort, { maxVersion: 'TLSv1.2' })).toMatchObject({
        version: 'TLSv1.2',
        cn: name,
      });
    }
    before.write(keepAlive(0));
    await until(before, 'hello');
    before.destroy();
  });

  test('still requests a client certificate', async () => {
    await using listener = disposable(
      await open([mount('/', ({ peer }) => text(`certificates: ${peer.certificates.length}`))]),
    );
    listener.setCredential(credentialOf(issue('second')));
    const client = issue('client');
    const socket = connectSecure(listener.httpsPort, { cert: client.pem, key: client.key.pem() });
    expect(await talk(socket, request('GET /'))).toEndWith('certificates: 1');
  });

  test.each([
    ['of a key that is another', { ...credentialOf(issue('a')), privateKey: issue('b').key.pem() }],
    ['without a certificate', { ...credentialOf(issue('a')), certificateChain: '' }],
    ['of rubbish', { certificateChain: 'rubbish', privateKey: 'rubbish' }],
  ])('%s is rejected, and the old credential stays', async (_what, credential) => {
    await using listener = disposable(await open([hello]));
    expect(() => listener.setCredential(credential)).toThrow(Fault);
    expect(await handshake(listener.httpsPort)).toMatchObject({ cn: 'localhost' });
    await expect(open([hello], { https: { port: 0, host: '127.0.0.1', credential } })).rejects.toBeInstanceOf(
      Fault,
    );
  });
});

describe('opening', () => {
  test('fails when a port is taken, and leaves nothing open', async () => {
    await using first = disposable(await open([hello]));
    const errors: unknown[] = [];
    const https = { port: 0, host: '127.0.0.1', credential: credentialOf(issue('localhost')) };
    const http = { port: first.httpPort!, host: '127.0.0.1' };
    await expect(open([hello], { https, http, errors })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect(errors).toEqual([]);
  });

  test('works without a plain listener', async () => {
    const credential = credentialOf(issue('localhost'));
    await using listener = disposable(
      await openListener({
        mounts: [hello],
        https: { port: 0, host: '127.0.0.1', credential },
        trustedProxies: [],
        onError: () => undefined,
      }),
    );
    expect(listener.httpPort).toBeUndefined();
    expect(await talk(connectSecure(listener.httpsPort), request('GET /'))).toEndWith('hello');
  });

  test('twice on one port distributes the connections', async () => {
    const credential = credentialOf(issue('localhost'));
    const named = (name: string) => mount('/', () => text(name));
    const https = { port: 0, host: '127.0.0.1', credential, reusePort: true };
    await using first = disposable(await open([named('first')], { https }));
    await using second = disposable(
      await open([named('second')], { https: { ...https, port: first.httpsPort } }),
    );
    expect(second.httpsPort).toBe(first.httpsPort);
    const answers = new Set<string>();
    for (let i = 0; i < 64 && answers.size < 2; i += 1) {
      answers.add((await talk(connectSecure(first.httpsPort), request('GET /'))).split('\r\n\r\n')[1]!);
    }
    expect([...answers].sort()).toEqual(['first', 'second']);
  });
});

test('connections beyond the limit are closed, and new ones accepted when others end', async () => {
  await using listener = disposable(await open([hello], { limits: { connections: 2 } }));
  for (const connect of [() => connectPlain(listener.httpPort!), () => connectSecure(listener.httpsPort)]) {
    const held = [connect(), connect()];
    for (const socket of held) {
      socket.write(keepAlive(0));
      await until(socket, 'hello');
    }
    expect(await talk(connect(), request('GET /'))).toBe('');
    for (const socket of held) socket.destroy();
    await Bun.sleep(50);
    expect(statusOf(await talk(connect(), request('GET /')))).toBe(200);
  }
});

describe.each(['HTTPS', 'plain HTTP'])('closing, on %s,', (scheme) => {
  const start = async (): Promise<{ listener: Awaited<ReturnType<typeof open>>; connect: () => Socket }> => {
    const listener = await open([slow], { limits: { lingerMs: 100 } });
    const connect = (): Socket =>
      scheme === 'HTTPS' ? connectSecure(listener.httpsPort) : connectPlain(listener.httpPort!);
    return { listener, connect };
  };
  const settled = async (socket: Socket): Promise<void> => {
    socket.write(keepAlive(0));
    await until(socket, 'done');
  };

  /** Sends a request and returns once the mount has it; `whole` is everything received. */
  const underWay = async (socket: Socket, octets: string): Promise<{ whole: Promise<string> }> => {
    const before = begun;
    const whole = talk(socket, octets);
    while (begun === before) await Bun.sleep(5);
    return { whole };
  };

  test('completes a request in progress and then closes its connection', async () => {
    const { listener, connect } = await start();
    const answer = await underWay(connect(), keepAlive(200));
    await listener.close(forever);
    expect(await answer.whole).toMatch(/^connection: close\r$/im);
    expect(await answer.whole).toEndWith('done');
  });

  test('completes a response in progress', async () => {
    const { listener, connect } = await start();
    const answer = await underWay(connect(), 'GET /stream?200 HTTP/1.1\r\nHost: pki\r\n\r\n');
    await listener.close(forever);
    expect(await answer.whole).toEndWith('ended\r\n0\r\n\r\n');
  });

  test('completes a request whose body is still being received', async () => {
    const { listener, connect } = await start();
    const socket = connect();
    await settled(socket);
    socket.write('POST /?0 HTTP/1.1\r\nHost: pki\r\nContent-Length: 2\r\n\r\na');
    await Bun.sleep(300);
    const closed = listener.close(forever);
    const answer = talk(socket);
    await Bun.sleep(50);
    socket.write('b');
    expect(await answer).toEndWith('done');
    await closed;
  });

  test('completes a request whose header is still being received', async () => {
    const { listener, connect } = await start();
    const socket = connect();
    await settled(socket);
    socket.write('GET /?0 HTTP/1.1\r\n');
    await Bun.sleep(300);
    const closed = listener.close(forever);
    const answer = talk(socket);
    socket.write('Host: pki\r\n\r\n');
    expect(await answer).toEndWith('done');
    await closed;
  });

  test('closes idle connections immediately and accepts no more', async () => {
    const { listener, connect } = await start();
    const idle = connect();
    await settled(idle);
    const ended = talk(idle);
    await listener.close(forever);
    expect(await ended).toBe('');
    expect(await talk(connect(), request('GET /?0'))).toBe('');
  });

  test('cuts a request that does not complete in time', async () => {
    const { listener, connect } = await start();
    const answer = await underWay(connect(), keepAlive(forever));
    const started = performance.now();
    await listener.close(200);
    expect(performance.now() - started).toBeGreaterThan(190);
    expect(await answer.whole).toBe('');
  });
});

test('closing aborts open handshakes', async () => {
  const listener = await open([hello]);
  const ended = talk(connectPlain(listener.httpsPort));
  await Bun.sleep(50);
  await listener.close(forever);
  expect(await ended).toBe('');
});

test('a listener without connections closes', async () => {
  const listener = await open([hello]);
  await listener.close(forever);
  const socket = connectSecure(listener.httpsPort);
  expect(socket).toBeInstanceOf(TLSSocket);
  expect(await talk(socket)).toBe('');
});

function disposable<T extends { close(graceMs: number): Promise<void> }>(listener: T): T & AsyncDisposable {
  return Object.assign(listener, { [Symbol.asyncDispose]: () => listener.close(0) });
}
