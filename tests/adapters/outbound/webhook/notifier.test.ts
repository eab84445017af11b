import { expect, test } from 'bun:test';
import { createServer } from 'node:net';
import { isRefused } from '#adapters/outbound/webhook/addresses.ts';
import { createNotifier, type NotifierOptions } from '#adapters/outbound/webhook/notifier.ts';
import { Fault } from '#core/fault.ts';
import type { Attempt, Message } from '#core/ports/notifier.ts';
import { openssl } from '#tests/fixtures/openssl.ts';
import { isSigned, receiver } from '#tests/fixtures/webhook-receiver.ts';

const secret = new Uint8Array(32).fill(7);
const shown = `whsec_${Buffer.from(secret).toString('base64')}`;
const body =
  '{"type":"certificate.issued","timestamp":"2026-01-01T00:00:00.000Z","data":{"id":1,"subject":"CN=é"}}';
const never = new AbortController().signal;

const post = (url: string, options: NotifierOptions = {}, more: Partial<Message> = {}): Promise<Attempt> =>
  createNotifier(options).post({ url, id: 'msg_1', at: 1_790_000_000_999, body, secret, ...more }, never);

test('a message is posted unchanged, with a signature that receivers can verify', async () => {
  await using there = await receiver();
  expect(await post(there.url)).toEqual({ delivered: true, status: 204, detail: null });
  const [message] = there.received;
  expect(message!.path).toBe('/hook?to=me');
  expect(message!.body).toBe(body);
  expect(message!.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': 'msg_1',
    'webhook-timestamp': '1790000000',
  });
  expect(isSigned(message!, shown)).toBe(true);
  expect(isSigned({ ...message!, body: body.replace('1', '2') }, shown)).toBe(false);
  expect(isSigned(message!, `whsec_${Buffer.alloc(32).toString('base64')}`)).toBe(false);
});

test("the signature of the specification's example is the same", async () => {
  await using there = await receiver();
  const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  await post(
    there.url,
    {},
    { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', at: 1_614_265_330_000, body: '{"test": 2432232314}', secret: key },
  );
  // From the test vectors that the reference libraries share.
  expect(there.received[0]!.headers['webhook-signature']).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

test('a response other than 2xx is a failed delivery, and redirects are not followed', async () => {
  await using elsewhere = await receiver();
  await using there = await receiver();
  for (const status of [301, 302, 307, 308, 400, 404, 410, 429, 500, 503]) {
    there.answer = (response) => response.writeHead(status, { location: elsewhere.url }).end('no');
    const attempt = await post(there.url);
    expect([status, attempt.delivered, attempt.status]).toEqual([status, false, status]);
    expect(attempt.detail).not.toContain('no\n');
  }
  expect(elsewhere.received).toEqual([]);
});

test('a timeout or a closed connection is a failed delivery', async () => {
  await using there = await receiver();
  there.answer = () => {};
  const began = Date.now();
  expect(await post(there.url, { timeout: 300 })).toEqual({
    delivered: false,
    status: null,
    detail: 'no response in time',
  });
  expect(Date.now() - began).toBeLessThan(9000);
  there.answer = (response) => response.socket?.destroy();
  expect(await post(there.url, { timeout: 2000 })).toMatchObject({ delivered: false, status: null });
});

test('an endless response is not read to its end, and an invalid one is a failed delivery', async () => {
  await using there = await receiver();
  let written = 0;
  there.answer = (response) => {
    response.writeHead(200);
    const more = (): void => {
      if (response.destroyed || written > 50_000_000) return;
      written += 65_536;
      if (response.write(Buffer.alloc(65_536))) setTimeout(more, 1);
      else response.once('drain', more);
    };
    more();
  };
  expect(await post(there.url)).toMatchObject({ delivered: true, status: 200 });
  await Bun.sleep(200);
  expect(written).toBeLessThan(20_000_000);
  const garbage = createServer((socket) => socket.end('SSH-2.0-x\r\n'));
  await new Promise<void>((resolve) => garbage.listen(0, '127.0.0.1', resolve));
  const { port } = garbage.address() as { port: number };
  expect(await post(`http://127.0.0.1:${port}/`, { timeout: 2000 })).toMatchObject({ delivered: false });
  garbage.close();
});

test('a connection error is reported with the reason of the system only', async () => {
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port } = free.address() as { port: number };
  await new Promise((resolve) => free.close(resolve));
  const attempt = await post(`http://127.0.0.1:${port}/`, { timeout: 2000 });
  expect(attempt).toMatchObject({ delivered: false, status: null });
  expect(attempt.detail).toStartWith('it cannot be reached');
});

test('the TLS certificate of the receiver is verified with the anchors of the system or the given ones', async () => {
  const made = openssl(
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-subj', '/CN=hook.test', '-addext', 'subjectAltName=DNS:hook.test'],
      ...['-keyout', 'key.pem', '-out', 'cert.pem'],
    ],
    {},
    ['key.pem', 'cert.pem'],
  );
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => Buffer.from(made.file(name)).toString('utf8'));
  const anchor = new Uint8Array(Buffer.from(cert!.replace(/-----[^-]+-----|\s/g, ''), 'base64'));
  await using there = await receiver({ tls: { key: key!, cert: cert! } });
  const resolve = async () => ['127.0.0.1'];
  const anchors = [anchor];
  const named = (host: string) => `https://${host}:${there.port}/`;
  expect(await post(named('hook.test'), { resolve })).toMatchObject({ delivered: false, status: null });
  expect(await post(named('other.test'), { resolve }, { anchors })).toMatchObject({ delivered: false });
  expect(there.received).toEqual([]);
  expect(await post(named('hook.test'), { resolve }, { anchors })).toMatchObject({ delivered: true });
  expect(there.received[0]!.headers.host).toBe(`hook.test:${there.port}`);
});

test('the next address of a name is tried when the first refuses the connection', async () => {
  await using there = await receiver();
  const resolve = async () => ['127.0.0.2', '127.0.0.1'];
  expect(await post(`http://hook.test:${there.port}/`, { resolve })).toMatchObject({ delivered: true });
});

test('nothing is sent to a name that resolves to a link-local address, alone or with others', async () => {
  await using there = await receiver();
  for (const addresses of [
    ['169.254.169.254'],
    ['127.0.0.1', 'fe80::1'],
    ['127.0.0.1', '::ffff:a9fe:a9fe'],
    ['no address'],
  ]) {
    const attempt = await post(`http://hook.test:${there.port}/`, { resolve: async () => addresses });
    expect(attempt).toEqual({
      delivered: false,
      status: null,
      detail: 'the name resolves to an address to which webhooks are not allowed',
    });
  }
  expect(there.received).toEqual([]);
});

test('a cancelled message ends immediately', async () => {
  await using there = await receiver();
  there.answer = () => {};
  const cut = new AbortController();
  const attempt = createNotifier().post({ url: there.url, id: 'msg_1', at: 0, body, secret }, cut.signal);
  await there.until(1);
  cut.abort();
  expect(await attempt).toMatchObject({ delivered: false });
});

test.each([
  ['169.254.169.254', true],
  ['169.254.0.1', true],
  ['::ffff:169.254.169.254', true],
  ['::ffff:a9fe:a9fe', true],
  ['::a9fe:a9fe', true],
  ['64:ff9b::a9fe:a9fe', true],
  ['2002:a9fe:a9fe::', true],
  ['fe80::1', true],
  ['febf::1%eth0', true],
  ['fd00:ec2::254', true],
  ['0.0.0.0', true],
  ['::', true],
  ['224.0.0.1', true],
  ['255.255.255.255', true],
  ['not an address', true],
  ['127.0.0.1', false],
  ['::1', false],
  ['10.0.0.7', false],
  ['192.0.2.1', false],
  ['2001:db8::1', false],
  ['::ffff:10.0.0.7', false],
])('%s is rejected: %p', (address, refused) => {
  expect(isRefused(address)).toBe(refused);
});

test.each([
  'ftp://tickets.example/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'tickets.example',
  '',
  'https://',
  'https://user@tickets.example/',
  'https://user:secret@tickets.example/',
  'https://tickets.example/#here',
  'http://169.254.169.254/latest/meta-data/',
  'http://0xA9FEA9FE/',
  'http://2852039166/',
  'http://0251.0376.0251.0376/',
  'http://[fe80::1]/',
  'http://[::ffff:169.254.169.254]/',
  `https://tickets.example/${'x'.repeat(1000)}`,
])('nothing is ever sent to %s', async (url) => {
  const notifier = createNotifier({ resolve: async () => ['127.0.0.1'] });
  let fault: unknown;
  try {
    notifier.check(url);
  } catch (error) {
    fault = error;
  }
  expect(fault).toBeInstanceOf(Fault);
  expect((fault as Fault).code).toBe('malformed');
  expect(await post(url)).toMatchObject({ delivered: false, status: null });
});
