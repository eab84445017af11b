import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { HttpResponse, Mount } from '#adapters/inbound/http/exchange.ts';
import { type DerBuilder, der } from '#core/der/builder.ts';
import { type DerReader, readDer } from '#core/der/reader.ts';
import { contextConstructed, tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { readSignatureAlgorithm } from '#core/x509/algorithm.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { readPublicKey, verifySignature } from '#core/x509/public-key.ts';
import plugin from '#plugins/kit/examples/ocsp/plugin.ts';
import { readOcspRequest } from '#plugins/kit/examples/ocsp/request.ts';
import { inboundContract } from '#tests/contracts/inbound.ts';
import { type Installation, installation, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { runs } from '#tests/property.ts';

const sha1 = '1.3.14.3.2.26';
const sha256 = '2.16.840.1.101.3.4.2.1';
const nonceOid = '1.3.6.1.5.5.7.48.1.2';
const config = { path: '/ocsp', validity_minutes: 240, max_age_seconds: 300, kept_answers: 2 };

const open = (service: Installation) =>
  plugin.open(config, {
    name: 'ocsp',
    dataDirectory: service.logDirectory,
    log: service.log,
    clock: service.clock,
    entropy: { bytes: (length) => new Uint8Array(length) },
    vault: { seal: (plain) => plain, open: (sealed) => sealed, reseal: () => undefined },
    gateway: service.gateway,
    baseUrl: 'https://pki.example:8443',
  });

inboundContract('the OCSP example', async () => {
  const service = await installation();
  return { inbound: await open(service), close: () => service[Symbol.asyncDispose]() };
});

/** Returns the CertID of a certificate, from its issuer's certificate. */
function certificateId(issuer: Uint8Array, serial: Uint8Array, hash = sha1): Uint8Array {
  const { subject, spki } = parseCertificate(issuer);
  const digest = (bytes: Uint8Array) =>
    createHash(hash === sha1 ? 'sha1' : 'sha256')
      .update(bytes)
      .digest();
  return der((b) =>
    b.sequence((id) =>
      id
        .sequence((a) => a.oid(hash).null())
        .octetString(digest(subject.der))
        .octetString(digest(readPublicKey(spki).bytes))
        .add(tag.integer, serial),
    ),
  );
}

/** The CertID of an unknown CA. */
const strangeId = der((b) =>
  b.sequence((id) =>
    id
      .sequence((a) => a.oid(sha1))
      .octetString(new Uint8Array(20))
      .octetString(new Uint8Array(20))
      .integer(1),
  ),
);

interface Ask {
  readonly ids: readonly Uint8Array[];
  /** Returns the value of the extension. */
  readonly nonce?: Uint8Array;
  readonly before?: (content: DerBuilder) => void;
  readonly after?: (request: DerBuilder) => void;
}

const encoded = ({ ids, nonce, before, after }: Ask): Uint8Array =>
  der((b) =>
    b.sequence((message) => {
      message.sequence((content) => {
        before?.(content);
        content.sequence((list) => {
          for (const id of ids) list.sequence(id);
        });
        if (nonce) {
          content.explicit(2, (x) =>
            x.sequence((e) => e.sequence((one) => one.oid(nonceOid).octetString(nonce))),
          );
        }
      });
      after?.(message);
    }),
  );

const nonceOf = (length: number): Uint8Array => der((b) => b.octetString(new Uint8Array(length).fill(9)));

interface Single {
  readonly id: Uint8Array;
  readonly status: 'good' | 'revoked' | 'unknown';
  readonly reason?: number;
  readonly at?: number;
}

/** Returns the contents of a response after verifying its signature with the certificate inside. */
function read(body: HttpResponse['body'], signer?: Uint8Array) {
  return readDer(body as Uint8Array, (reader) => {
    const response = reader.sequence();
    const status = response.smallInteger(6, tag.enumerated);
    if (response.empty) return { status, singles: [] as Single[], nonce: undefined };
    const bytes = response.read(contextConstructed(0)).sequence();
    expect(bytes.oid()).toBe('1.3.6.1.5.5.7.48.1.1');
    return readDer(bytes.octetString(), (r) => {
      const basic = r.sequence();
      const data = basic.element(tag.sequence);
      const algorithm = readSignatureAlgorithm(basic);
      const signature = basic.bitStringBytes();
      const certificate = signer ?? basic.read(contextConstructed(0)).sequence().element(tag.sequence);
      const key = readPublicKey(parseCertificate(certificate).spki);
      expect(verifySignature(key, algorithm, data, signature)).toBe(true);
      return { status, certificate, ...readDer(data, (d) => readData(d.sequence(), key.bytes)) };
    });
  });
}

function readData(data: DerReader, key: Uint8Array) {
  const name = data.read(contextConstructed(2)).octetString();
  expect(Buffer.from(name)).toEqual(createHash('sha1').update(key).digest());
  const producedAt = data.generalizedTime();
  const singles: Single[] = [];
  let nextUpdate = 0;
  for (const list = data.sequence(); !list.empty; ) {
    const single = list.sequence();
    const id = single.element(tag.sequence);
    const revoked = single.optional(contextConstructed(1));
    if (revoked) {
      const at = revoked.generalizedTime();
      const reason = revoked.optional(contextConstructed(0))?.smallInteger(10, tag.enumerated);
      singles.push({ id, status: 'revoked', at, ...(reason !== undefined && { reason }) });
    } else {
      singles.push({ id, status: single.peek() === 0x80 ? 'good' : 'unknown' });
      expect(single.contents(single.peek())).toHaveLength(0);
    }
    expect(single.generalizedTime()).toBe(producedAt);
    nextUpdate = single.read(contextConstructed(0)).generalizedTime();
    single.finish();
  }
  const extensions = data.optional(contextConstructed(1))?.sequence().sequence();
  const nonce = extensions && (extensions.oid() === nonceOid ? extensions.octetString() : undefined);
  return { singles, producedAt, nextUpdate, nonce };
}

const peer = { address: '192.0.2.7', secure: false, certificates: [] };

const post = (mount: Mount, body: Uint8Array, contentType = 'application/ocsp-request') =>
  mount.handle({
    method: 'POST',
    path: mount.prefix,
    query: '',
    headers: { 'content-type': contentType },
    body,
    peer,
  });

const get = (mount: Mount, path: string, headers: Record<string, string> = {}) =>
  mount.handle({
    method: 'GET',
    path: mount.prefix + path,
    query: '',
    headers,
    body: new Uint8Array(0),
    peer,
  });

const inPath = (body: Uint8Array) => `/${encodeURIComponent(Buffer.from(body).toString('base64'))}`;

interface Scene extends AsyncDisposable {
  readonly service: Installation;
  readonly mount: Mount;
  /** The issuing CA (DER). */
  readonly issuer: Uint8Array;
  readonly serial: Uint8Array;
  readonly certificate: number;
  enrol(name: string): Promise<{ serial: Uint8Array; id: number }>;
}

async function scene(): Promise<Scene> {
  const service = await installation();
  const { mounts } = await open(service);
  const enrol = async (name: string) => {
    const { password: secret } = await service.device(name);
    const der = await service.enrol(
      password(name, secret),
      {},
      request(testKey('p-256', name), `CN=${name}`),
    );
    const { serial, serialNumber } = parseCertificate(der);
    const { id, ca } = (await service.store.find('certificate', { serialNumber }))!;
    return { serial, id, ca };
  };
  const { serial, id, ca } = await enrol('pump-1');
  return {
    service,
    mount: mounts[0]!,
    issuer: await service.gateway.caCertificate(ca),
    serial,
    certificate: id,
    enrol,
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

describe('an OCSP request', () => {
  test.each([
    ['SHA-1', sha1],
    ['SHA-256', sha256],
  ])('that names the CA by %s is answered by its delegated responder', async (_, hash) => {
    await using at = await scene();
    const id = certificateId(at.issuer, at.serial, hash);
    const { status, singles, certificate, producedAt, nextUpdate } = read(
      (await post(at.mount, encoded({ ids: [id] }))).body,
    ) as ReturnType<typeof read> & { certificate: Uint8Array; producedAt: number; nextUpdate: number };
    expect({ status, singles }).toEqual({ status: 0, singles: [{ id, status: 'good' }] });
    expect(parseCertificate(certificate).issuer.der).toEqual(parseCertificate(at.issuer).subject.der);
    expect(nextUpdate - producedAt).toBe(240 * 60_000);
  });

  test('for several certificates is answered for each in order, with unknown for other CAs', async () => {
    await using at = await scene();
    const second = await at.enrol('pump-2');
    await at.service.gateway.certificates.revoke(at.service.admin, second.id, { reason: 'superseded' });
    const root = await at.service.gateway.caCertificate(1);
    const ids = [
      certificateId(at.issuer, at.serial),
      certificateId(at.issuer, second.serial, sha256),
      certificateId(at.issuer, Uint8Array.of(5)),
      certificateId(root, parseCertificate(at.issuer).serial),
    ];
    const { singles } = read((await post(at.mount, encoded({ ids }))).body);
    expect(singles).toEqual([
      { id: ids[0]!, status: 'good' },
      { id: ids[1]!, status: 'revoked', at: at.service.clock.now(), reason: 4 },
      { id: ids[2]!, status: 'unknown' },
      { id: ids[3]!, status: 'unknown' },
    ]);
    const alone = read((await post(at.mount, encoded({ ids: [ids[3]!] }))).body);
    expect(alone.singles).toEqual([{ id: ids[3]!, status: 'good' }]);
  });

  test('gets its nonce back', async () => {
    await using at = await scene();
    const ids = [certificateId(at.issuer, at.serial)];
    for (const length of [1, 16, 32, 128]) {
      const nonce = nonceOf(length);
      expect(read((await post(at.mount, encoded({ ids, nonce }))).body).nonce).toEqual(nonce);
    }
  });

  test('may have a requestor name and a signature, which are ignored', async () => {
    await using at = await scene();
    const ids = [certificateId(at.issuer, at.serial)];
    const before = (content: DerBuilder) =>
      content.explicit(1, (name) => name.add(contextConstructed(4), (n) => n.sequence(new Uint8Array(0))));
    const after = (message: DerBuilder) =>
      message.explicit(0, (s) =>
        s.sequence((signature) =>
          signature.sequence((a) => a.oid('1.2.840.10045.4.3.2')).bitString(Uint8Array.of(1, 2, 3)),
        ),
      );
    expect(read((await post(at.mount, encoded({ ids, before, after }))).body).singles).toHaveLength(1);
  });

  test('about an unknown CA only is rejected as unauthorized', async () => {
    await using at = await scene();
    expect(read((await post(at.mount, encoded({ ids: [strangeId] }))).body).status).toBe(6);
  });

  const id = strangeId;
  const malformed: readonly [what: string, message: Uint8Array][] = [
    ['empty', new Uint8Array(0)],
    ['without a request', encoded({ ids: [] })],
    ['with more than fifty requests', encoded({ ids: Array.from({ length: 51 }, () => id) })],
    ['with an empty nonce', encoded({ ids: [id], nonce: nonceOf(0) })],
    ['with a nonce of 129 octets', encoded({ ids: [id], nonce: nonceOf(129) })],
    ['with a nonce that is no OCTET STRING', encoded({ ids: [id], nonce: new Uint8Array(16) })],
    ['with something behind it', Uint8Array.from([...encoded({ ids: [id] }), 0])],
    ['of another version', encoded({ ids: [id], before: (c) => c.explicit(0, (v) => v.integer(1)) })],
    [
      'with a critical extension that is not known',
      encoded({
        ids: [
          Uint8Array.from([
            ...id,
            ...der((b) =>
              b.explicit(0, (x) =>
                x.sequence((e) =>
                  e.sequence((one) => one.oid('1.2.3').boolean(true).octetString(new Uint8Array(0))),
                ),
              ),
            ),
          ]),
        ],
      }),
    ],
  ];
  test('that is malformed gets malformedRequest', async () => {
    await using at = await scene();
    for (const [what, message] of malformed) {
      const { body } = await post(at.mount, message);
      expect({ what, body }).toEqual({ what, body: Uint8Array.of(0x30, 3, 0x0a, 1, 1) });
    }
  });

  test('gets tryLater when the response cannot be signed, and internalError for an unexpected error', async () => {
    await using at = await scene();
    const { revocationStatuses, now } = at.service.gateway;
    for (const [failure, status] of [
      [new Fault('unavailable', 'no token'), 3],
      [new Error('a defect'), 2],
    ] as const) {
      const gateway = {
        ...at.service.gateway,
        now,
        revocationStatuses: { ...revocationStatuses, responder: () => Promise.reject(failure) },
      };
      const { mounts } = await open({ ...at.service, gateway });
      const body = encoded({ ids: [certificateId(at.issuer, at.serial)] });
      expect(read((await post(mounts[0]!, body)).body).status).toBe(status);
    }
  });
});

describe('a response', () => {
  test('is signed once for all clients, until the status changes or half its validity is over', async () => {
    await using at = await scene();
    const { gateway, admin, clock } = at.service;
    const body = encoded({ ids: [certificateId(at.issuer, at.serial)] });
    const ask = async () => (await post(at.mount, body)).body;
    const first = await ask();
    expect(await ask()).toBe(first);
    clock.advance(119 * 60_000);
    expect(await ask()).toBe(first);
    clock.advance(60_000);
    const second = await ask();
    expect(second).not.toEqual(first);
    await gateway.certificates.revoke(admin, at.certificate, { reason: 'keyCompromise' });
    expect(read(await ask()).singles[0]).toMatchObject({ status: 'revoked', reason: 1 });
  });

  test('is cached up to the configured number, and never for serial numbers that were not issued', async () => {
    await using at = await scene();
    const bodies: Uint8Array[] = [];
    for (const name of ['pump-2', 'pump-3']) {
      bodies.push(encoded({ ids: [certificateId(at.issuer, (await at.enrol(name)).serial)] }));
    }
    const ask = async (body: Uint8Array) => (await post(at.mount, body)).body;
    const own = encoded({ ids: [certificateId(at.issuer, at.serial)] });
    const first = await ask(own);
    for (let n = 1; n < 20; n++) await ask(encoded({ ids: [certificateId(at.issuer, Uint8Array.of(n))] }));
    expect(await ask(own)).toBe(first);
    for (const body of bodies) await ask(body);
    expect(await ask(own)).not.toBe(first);
  });

  test('to GET has caching headers, and 304 for a client that has it', async () => {
    await using at = await scene();
    const { clock } = at.service;
    const path = inPath(encoded({ ids: [certificateId(at.issuer, at.serial)] }));
    const { status, headers, body } = await get(at.mount, path);
    const now = clock.now();
    expect(status).toBe(200);
    expect(headers).toEqual({
      'content-type': 'application/ocsp-response',
      'cache-control': 'max-age=300,public,no-transform,must-revalidate',
      'last-modified': new Date(now).toUTCString(),
      expires: new Date(now + 240 * 60_000).toUTCString(),
      etag: `"${createHash('sha256')
        .update(body as Uint8Array)
        .digest('hex')}"`,
    });
    const again = await get(at.mount, path, { 'if-none-match': `"x", ${headers.etag}` });
    expect({ status: again.status, body: again.body }).toEqual({ status: 304, body: '' });
    expect((await get(at.mount, path, { 'if-none-match': '"x"' })).status).toBe(200);
  });

  test('with a nonce, or to POST, is not cached', async () => {
    await using at = await scene();
    const ids = [certificateId(at.issuer, at.serial)];
    const answers = [
      await get(at.mount, inPath(encoded({ ids, nonce: nonceOf(16) }))),
      await post(at.mount, encoded({ ids })),
      await get(at.mount, '/AAAA'),
    ];
    for (const { headers } of answers) expect(headers['cache-control']).toBe('no-store');
  });
});

describe('over HTTP', () => {
  test('the path may be percent-encoded base64', async () => {
    await using at = await scene();
    const base64 = Buffer.from(encoded({ ids: [certificateId(at.issuer, at.serial)] })).toString('base64');
    for (const path of [encodeURIComponent(base64), base64]) {
      expect(read((await get(at.mount, `/${path}`)).body).status).toBe(0);
    }
    for (const path of ['', '/', '/%', '/%ff', '/a', '/====', '/AAAA AAAA', '/-_-_']) {
      expect(read((await get(at.mount, path)).body).status).toBe(1);
    }
  });

  test('other methods, paths and content types are rejected', async () => {
    await using at = await scene();
    const body = encoded({ ids: [certificateId(at.issuer, at.serial)] });
    expect((await post(at.mount, body, 'text/plain')).status).toBe(415);
    const other = { method: 'PUT', path: '/ocsp', query: '', headers: {}, body, peer };
    expect(await at.mount.handle(other)).toMatchObject({ status: 405, headers: { allow: 'GET, POST' } });
    expect((await at.mount.handle({ ...other, method: 'POST', path: '/ocsp/x' })).status).toBe(404);
  });
});

describe('arbitrary input', () => {
  const base = encoded({ ids: [strangeId, strangeId], nonce: nonceOf(16) });

  test('is read or malformed', () => {
    const tampered = fc
      .array(fc.tuple(fc.nat(base.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 })
      .map((changes) => changes.reduce((bytes, [at, octet]) => bytes.with(at, octet), base));
    fc.assert(
      fc.property(fc.oneof(tampered, fc.uint8Array({ maxLength: 300 })), (bytes) => {
        try {
          const { ids, nonce } = readOcspRequest(bytes);
          expect(ids.length).toBeGreaterThan(0);
          expect(nonce?.length ?? 1).toBeGreaterThan(0);
        } catch (error) {
          if (!(error instanceof Fault)) throw error;
          expect(error.code).toBe('malformed');
        }
      }),
      runs(2000),
    );
  });
});
