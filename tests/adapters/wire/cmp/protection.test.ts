import { describe, expect, test } from 'bun:test';
import { createHash, createHmac } from 'node:crypto';
import type { MacParameters } from '#adapters/wire/cmp/mac.ts';
import { computeMac, macAlgorithm, readMacAlgorithm } from '#adapters/wire/cmp/mac.ts';
import {
  buildPkiMessage,
  openPkiMessage,
  type Protector,
  parsePkiMessage,
  type SealedPkiMessage,
} from '#adapters/wire/cmp/message.ts';
import { macProtection, readProtection, signatureProtection } from '#adapters/wire/cmp/protection.ts';
import { type DerBuilder, der } from '#core/der/builder.ts';
import { hex, sameBytes } from '#core/der/bytes.ts';
import { Fault } from '#core/fault.ts';
import { type KeyType, type SignatureAlgorithm, signatureAlgorithms } from '#core/x509/algorithm.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl } from '#tests/fixtures/openssl.ts';
import { header } from './samples.ts';
import { secret, vector } from './vectors.ts';

const random = (octets: number): Uint8Array => new Uint8Array(octets).fill(7);
const salt = random(16);
const message = async (protector: Protector): Promise<SealedPkiMessage> =>
  openPkiMessage(await buildPkiMessage(header, { type: 'pkiConf' }, { protector }));

const pbm = { kind: 'passwordBasedMac', salt, owf: 'sha256', iterations: 500, mac: 'sha1' } as const;
const pbmac1 = {
  kind: 'pbmac1',
  salt,
  iterations: 1000,
  keyLength: 32,
  prf: 'sha256',
  mac: 'sha256',
} as const;
const hashes = ['sha1', 'sha224', 'sha256', 'sha384', 'sha512'] as const;

describe('a shared secret', () => {
  const kinds: readonly MacParameters[] = hashes.flatMap((one, i) => {
    const other = hashes[(i + 2) % hashes.length]!;
    return [
      { ...pbm, owf: one, mac: other },
      { ...pbmac1, prf: one, mac: other },
    ];
  });

  test.each(kinds.map((like) => [like.kind, 'owf' in like ? like.owf : like.prf, like.mac, like] as const))(
    'protects by %s with %s and HMAC-%s',
    async (_kind, _hash, _mac, like) => {
      const sent = await message(macProtection(secret, like, (octets) => new Uint8Array(octets).fill(9)));
      const protection = readProtection(sent);
      if (protection.kind !== 'mac') throw new Error(protection.kind);
      expect(protection.parameters).toEqual({ ...like, salt: new Uint8Array(16).fill(9) });
      expect(await protection.verify(secret)).toBe(true);
      expect(await protection.verify(Buffer.from('SiemensIU'))).toBe(false);
      expect(await protection.verify(new Uint8Array())).toBe(false);
    },
  );

  test('under PBMAC1 gives the result of PBKDF2 and HMAC in OpenSSL', async () => {
    const sent = await message(macProtection(secret, { ...pbmac1, prf: 'sha512' }, random));
    const options = ['digest:SHA512', 'pass:SiemensIT', `hexsalt:${hex(salt)}`, 'iter:1000'];
    const key = openssl(
      [
        'kdf',
        '-keylen',
        '32',
        ...options.flatMap((option) => ['-kdfopt', option]),
        '-binary',
        '-out',
        'key',
        'PBKDF2',
      ],
      {},
      ['key'],
    ).file('key');
    const mac = openssl(
      [
        'mac',
        '-digest',
        'SHA256',
        '-macopt',
        `hexkey:${hex(key)}`,
        '-in',
        'data',
        '-binary',
        '-out',
        'mac',
        'HMAC',
      ],
      { data: sent.protectedPart() },
      ['mac'],
    ).file('mac');
    expect(hex(sent.protection!)).toBe(hex(mac));
  });

  test('gives a protection that OpenSSL accepts', async () => {
    const request = openPkiMessage(vector('ir-mac-1.req.der'));
    const protection = readProtection(request);
    if (protection.kind !== 'mac') throw new Error(protection.kind);
    const again = await buildPkiMessage(request.header, parsePkiMessage(request.der).body, {
      protector: macProtection(secret, { ...protection.parameters, mac: 'sha384' } as MacParameters, random),
    });
    const run = openssl(
      [
        'cmp',
        '-config',
        '',
        '-batch',
        '-use_mock_srv',
        '-cmd',
        'ir',
        '-ref',
        '4711',
        '-secret',
        'pass:SiemensIT',
      ]
        .concat([
          '-srv_ref',
          '4711',
          '-srv_secret',
          'pass:SiemensIT',
          '-recipient',
          '/CN=ca',
          '-newkey',
          'key',
        ])
        .concat(['-certout', 'out', '-rsp_cert', 'cert', '-reqin', 'ir', '-rspout', 'ip', '-verbosity', '7']),
      { ir: again, key: testKey('p-256').pem(), cert: certificatePem },
      ['ip'],
    );
    // The mock server responds with ip rather than error when the protection is valid.
    expect(openPkiMessage(run.file('ip')).bodyType).toBe('ip');
  });

  test.each<[what: string, algorithm: Uint8Array]>([
    ['99 iterations', macAlgorithm({ ...pbm, iterations: 99 })],
    ['100,001 iterations', macAlgorithm({ ...pbm, iterations: 100_001 })],
    ['an iteration count of 2^31', macAlgorithm({ ...pbm, iterations: 2 ** 31 })],
    ['99 iterations of PBKDF2', macAlgorithm({ ...pbmac1, iterations: 99 })],
    ['1,000,001 iterations of PBKDF2', macAlgorithm({ ...pbmac1, iterations: 1_000_001 })],
    ['a salt of 7 octets', macAlgorithm({ ...pbm, salt: random(7) })],
    ['a salt of 129 octets', macAlgorithm({ ...pbmac1, salt: random(129) })],
    ['a key of 15 octets', macAlgorithm({ ...pbmac1, keyLength: 15 })],
    ['a key of 129 octets', macAlgorithm({ ...pbmac1, keyLength: 129 })],
    ['MD5', withHash('1.2.840.113549.2.5')],
    ['a negative iteration count', withHash(undefined, -1)],
    ['an iteration count of 2^8000', withHash(undefined, 2n ** 8000n)],
  ])('with %s is rejected by the parser, before the secret is looked up', async (_what, algorithm) => {
    const sent = await message({ algorithm, protect: () => random(20) });
    expect(() => readProtection(sent)).toThrow(expect.objectContaining({ code: 'badAlgorithm' }));
  });

  test.each<[what: string, MacParameters]>([
    ['100 iterations', { ...pbm, iterations: 100 }],
    ['100,000 iterations', { ...pbm, iterations: 100_000 }],
    ['1,000,000 iterations of PBKDF2', { ...pbmac1, iterations: 1_000_000 }],
  ])('with %s is accepted', (_what, parameters) => {
    expect(readMacAlgorithm(macAlgorithm(parameters))).toEqual(parameters);
  });

  test.each([1000, 9_999, 10_000, 10_001, 20_000, 23_456])(
    'with %d iterations of PasswordBasedMac gives the result of RFC 9810 §5.1.3.1',
    async (iterations) => {
      let key = createHash('sha256').update(secret).update(salt).digest();
      for (let n = 1; n < iterations; n++) key = createHash('sha256').update(key).digest();
      const data = Buffer.from('header and body');
      const expected = createHmac('sha384', key).update(data).digest();
      const parameters = { ...pbm, iterations, mac: 'sha384' } as const;
      expect(Buffer.from(await computeMac(parameters, secret, data)).equals(expected)).toBe(true);
    },
  );

  test('with many iterations does not block other work', async () => {
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    await message(macProtection(secret, { ...pbm, iterations: 100_000 }, random));
    clearInterval(ticking);
    expect(turns).toBeGreaterThan(3);
  });

  test('is read with the defaults of PBKDF2', () => {
    const algorithm = der((b) =>
      b.sequence((s) =>
        s.oid('1.2.840.113549.1.5.14').sequence((p) => {
          p.sequence((kdf) =>
            kdf.oid('1.2.840.113549.1.5.12').sequence((k) => k.octetString(salt).integer(2048)),
          );
          p.sequence((mac) => mac.oid('1.2.840.113549.2.11'));
        }),
      ),
    );
    expect(readMacAlgorithm(algorithm)).toEqual({
      kind: 'pbmac1',
      salt,
      iterations: 2048,
      keyLength: 64,
      prf: 'sha1',
      mac: 'sha512',
    });
  });
});

/** Returns a password-based MAC with this HMAC or iteration count. */
function withHash(hmac = '1.2.840.113549.2.9', iterations: number | bigint = 500): Uint8Array {
  const hash = (oid: string) => (b: DerBuilder) => void b.oid(oid);
  return der((b) =>
    b.sequence((s) =>
      s.oid('1.2.840.113533.7.66.13').sequence((p) => {
        p.octetString(salt).sequence(hash('2.16.840.1.101.3.4.2.1')).integer(iterations).sequence(hash(hmac));
      }),
    ),
  );
}

const certificatePem = `-----BEGIN CERTIFICATE-----\n${Buffer.from(vector('device.crt.der')).toString('base64')}\n-----END CERTIFICATE-----\n`;

describe('a signature', () => {
  const keyFor = (algorithm: SignatureAlgorithm): KeyType =>
    algorithm.startsWith('rsa-')
      ? 'rsa-2048'
      : algorithm.startsWith('ecdsa-')
        ? 'p-384'
        : (algorithm as KeyType);

  test.each(signatureAlgorithms.map((algorithm) => [algorithm]))(
    'by %s protects a message',
    async (algorithm) => {
      const key = testKey(keyFor(algorithm));
      const sent = await message(signatureProtection(algorithm, (data) => key.sign(algorithm, data)));
      const protection = readProtection(sent);
      if (protection.kind !== 'signature') throw new Error(protection.kind);
      expect(protection.algorithm).toBe(algorithm);
      expect(protection.verify(key.publicKey)).toBe(true);
      expect(protection.verify(testKey(keyFor(algorithm), 'another').publicKey)).toBe(false);
      expect(protection.verify(testKey('p-521').publicKey)).toBe(false);
    },
  );

  test.each([
    ['SHA-1 with RSA', '1.2.840.113549.1.1.5'],
    ['a MAC by Diffie-Hellman', '1.2.840.113533.7.66.30'],
    ['a MAC by key encapsulation', '1.2.840.113533.7.66.16'],
    ['nothing known', '1.2.3.4'],
  ])('by %s is rejected', async (_name, oid) => {
    const sent = await message({
      algorithm: der((b) => b.sequence((s) => s.oid(oid).null())),
      protect: () => random(20),
    });
    expect(() => readProtection(sent)).toThrow(expect.objectContaining({ code: 'badAlgorithm' }));
  });

  test('can be made asynchronously', async () => {
    const key = testKey('ed25519');
    const sent = await message(
      signatureProtection('ed25519', async (data) => {
        await new Promise((resolve) => setImmediate(resolve));
        return key.sign('ed25519', data);
      }),
    );
    expect(readProtection(sent)).toMatchObject({ kind: 'signature', algorithm: 'ed25519' });
    expect(sameBytes(sent.protectedPart().subarray(-sent.bodyDer.length), sent.bodyDer)).toBe(true);
  });
});

test('a protection that is not a whole number of octets is malformed', () => {
  const { headerDer, bodyDer } = openPkiMessage(vector('ir-mac-1.req.der'));
  const encoded = der((b) =>
    b.sequence((s) =>
      s
        .raw(headerDer)
        .raw(bodyDer)
        .explicit(0, (p) => p.bitString(Uint8Array.of(0x80), 7)),
    ),
  );
  expect(() => openPkiMessage(encoded)).toThrow(Fault);
});
