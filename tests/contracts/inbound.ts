import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { HttpRequest, HttpResponse, Mount } from '#adapters/inbound/http/exchange.ts';
import type { Inbound } from '#plugins/kit/contract.ts';

/** An open inbound plugin and the parts it was opened with. */
interface InboundPlace {
  readonly inbound: Inbound;
  /** Closes those parts; the suite closes the plugin itself. */
  close(): PromiseLike<void>;
}

/** Requests that the listener itself rejects. */
const refusals = [400, 404, 408, 413, 417, 431, 500, 503] as const;
/** Header fields that the listener sets. */
const listeners = ['content-length', 'connection', 'date', 'transfer-encoding'];

const secondPaths = [
  '',
  '/',
  '//',
  '/.',
  '/..',
  '/%2e%2e%2f',
  '/%',
  '/%00',
  '/%ff%fe',
  '/x',
  '/1',
  '/-1',
  '/simpleenroll',
  '/a/b/c/d/e/f/g',
  `/${'a'.repeat(8000)}`,
  '/{}',
  '/%E2%82%AC',
];
const bodies: readonly Uint8Array[] = [
  new Uint8Array(0),
  Uint8Array.of(0),
  Uint8Array.of(0x30, 0x80),
  Buffer.from('{"a":'),
  Buffer.from('{"__proto__":{"a":1}}'),
  new Uint8Array(900).fill(0xff),
];
const contentTypes = [
  undefined,
  '',
  'application/json',
  'application/pkcs10',
  'application/pkixcmp',
  'text/plain; charset=\u00ff',
  ';;;',
];
const certificate = Uint8Array.of(0x30, 3, 2, 1, 1);

/** Executes the comments of `Mount` (adapters/inbound/http/exchange.ts) and `Inbound` (plugins/contract.ts). */
export function inboundContract(name: string, prepare: () => Promise<InboundPlace>): void {
  describe(`${name} as an inbound plugin`, () => {
    let place: InboundPlace;
    let mounts: readonly Mount[];

    beforeAll(async () => {
      place = await prepare();
      mounts = place.inbound.mounts;
    });
    afterAll(async () => {
      await place.inbound.close?.();
      await place.close();
    });

    const limitOf = ({ bodyLimit }: Mount, path: string): number =>
      typeof bodyLimit === 'function' ? bodyLimit(path) : bodyLimit;

    test('registers each valid part of the URL space once', () => {
      expect(mounts.length).toBeGreaterThan(0);
      const prefixes = mounts.map(({ prefix }) => prefix);
      for (const prefix of prefixes) expect(prefix).toMatch(/^(?:\/|(?:\/[A-Za-z0-9._~-]+)+)$/);
      expect(new Set(prefixes).size).toBe(prefixes.length);
    });

    test('limits the size of every body', () => {
      for (const mount of mounts) {
        expect(typeof mount.plainHttp).toBe('boolean');
        for (const second of secondPaths) {
          const limit = limitOf(mount, join(mount, second));
          expect(Number.isSafeInteger(limit) && limit >= 0).toBe(true);
        }
      }
    });

    test("rejects what the listener rejects, with the listener's message", async () => {
      for (const mount of mounts) {
        for (const status of refusals) {
          const answer = mount.refuse(status, 'not like this');
          await demandAnswer(answer);
          expect(answer.status).toBeGreaterThanOrEqual(400);
        }
      }
    });

    test('answers arbitrary requests without an internal error', async () => {
      for (const mount of mounts) {
        for (const [n, hostile] of requests(mount).entries()) {
          const limit = limitOf(mount, hostile.path);
          const request = { ...hostile, body: hostile.body.subarray(0, limit) };
          const answer = await mount.handle(request);
          await demandAnswer(answer);
          if (answer.status === 500)
            throw new Error(`request ${n}, ${request.method} ${request.path.slice(0, 100)}: status 500`);
        }
      }
    }, 60_000);

    test('answers concurrent requests', async () => {
      for (const mount of mounts) {
        const request = requests(mount)[0]!;
        const answers = await Promise.all(Array.from({ length: 20 }, () => mount.handle(request)));
        for (const answer of answers) expect(answer.status).toBe(answers[0]!.status);
        for (const answer of answers) await demandAnswer(answer);
      }
    });
  });
}

const join = ({ prefix }: Mount, second: string): string =>
  prefix === '/' ? second || '/' : prefix + second;

/** Paths, methods, content types, bodies, headers and peers, most of them unusual. */
function requests(mount: Mount): HttpRequest[] {
  const plain: HttpRequest = {
    method: 'GET',
    path: join(mount, ''),
    query: '',
    headers: { host: 'pki.example' },
    body: new Uint8Array(0),
    peer: { address: '192.0.2.7', secure: true, certificates: [] },
  };
  const post = { ...plain, method: 'POST', body: Buffer.from('x') };
  const authorizations = ['Basic', 'Basic %%%', 'Basic Og==', `Bearer ${'a'.repeat(3000)}`, 'Digest \u0000'];
  return [
    plain,
    ...['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'get', 'X-Y'].map((method) => ({
      ...plain,
      method,
    })),
    ...secondPaths.flatMap((second) => [plain, post].map((one) => ({ ...one, path: join(mount, second) }))),
    ...bodies.flatMap((body) =>
      contentTypes.map((type) => ({ ...post, body, headers: { ...plain.headers, 'content-type': type } })),
    ),
    ...authorizations.map((authorization) => ({ ...post, headers: { ...plain.headers, authorization } })),
    ...['a=b', '&&=', '%', `x=${'y'.repeat(5000)}`].map((query) => ({ ...plain, query })),
    {
      ...plain,
      headers: { ...plain.headers, 'if-none-match': '"\u00ff', accept: '*/*;q=x', range: 'bytes=' },
    },
    { ...post, peer: { ...plain.peer, certificates: [certificate] } },
    { ...post, peer: { ...plain.peer, certificates: [new Uint8Array(0), certificate] } },
    ...(mount.plainHttp ? [{ ...post, peer: { ...plain.peer, secure: false } }] : []),
  ];
}

/** Whether the request can be sent unchanged. */
async function demandAnswer({ status, headers, body }: HttpResponse): Promise<void> {
  expect(Number.isInteger(status) && status >= 200 && status <= 599).toBe(true);
  for (const [name, value] of Object.entries(headers)) {
    expect(name).toMatch(/^[a-z0-9!#$%&'*+.^_`|~-]+$/);
    expect(value).toMatch(/^[\t\x20-\x7e\x80-\xff]*$/);
    expect(listeners).not.toContain(name);
  }
  if (typeof body === 'string' || body instanceof Uint8Array) return;
  for await (const part of body) expect(part).toBeInstanceOf(Uint8Array);
}
