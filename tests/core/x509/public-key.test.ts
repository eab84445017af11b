import { describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { der } from '#core/der/builder.ts';
import { hex } from '#core/der/bytes.ts';
import { Fault, type FaultCode } from '#core/fault.ts';
import {
  defaultSignatureAlgorithm,
  type KeyType,
  signatureAlgorithmFits,
  signatureAlgorithms,
} from '#core/x509/algorithm.ts';
import { oid } from '#core/x509/oids.ts';
import { keyIdentifier, readPublicKey, samePublicKey, verifySignature } from '#core/x509/public-key.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';
import { runs } from '#tests/property.ts';

const types: readonly KeyType[] = [
  'rsa-2048',
  'rsa-3072',
  'p-256',
  'p-384',
  'p-521',
  'ed25519',
  'ml-dsa-44',
  'ml-dsa-65',
  'ml-dsa-87',
];
const data = Buffer.from('what is signed');

function refusal(spki: Uint8Array): Fault {
  try {
    readPublicKey(spki);
  } catch (error) {
    if (error instanceof Fault) return error;
  }
  throw new Error('not refused');
}

function rsa(modulus: Uint8Array, exponent: Uint8Array): Uint8Array {
  const key = der((b) => b.sequence((s) => s.unsigned(modulus).unsigned(exponent)));
  return der((b) => b.sequence((s) => s.sequence((a) => a.oid(oid.rsaEncryption).null()).bitString(key)));
}

/** An odd number of this many bits; the library does not look for factors. */
function modulus(bits: number): Uint8Array {
  const octets = new Uint8Array(Math.ceil(bits / 8)).fill(0xa5);
  octets[0] = 1 << ((bits - 1) % 8);
  return octets;
}

const f4 = Uint8Array.of(1, 0, 1);
/** 65537 to the power of 128. */
const roca = Uint8Array.fromHex((65537n ** 128n).toString(16).padStart(514, '0'));
const simple = (algorithm: Uint8Array, bytes: Uint8Array): Uint8Array =>
  der((b) => b.sequence((s) => s.sequence(algorithm).bitString(bytes)));
const algorithm = (which: string, ...more: Uint8Array[]): Uint8Array =>
  der((b) => {
    b.oid(which);
    for (const one of more) b.raw(one);
  });
const curve = (which: string): Uint8Array => der((b) => b.oid(which));
const point = (type: KeyType): Uint8Array => testKey(type).publicKey.bytes;

describe('public keys', () => {
  test.each(types)('of %s are read', (type) => {
    expect(testKey(type).publicKey.type).toBe(type);
  });

  test.each([2048, 2049, 2560, 4096, 8192])('RSA with %d bits is accepted', (bits) => {
    expect(readPublicKey(rsa(modulus(bits), f4)).type).toBe(`rsa-${bits}`);
  });

  test.each<[string, Uint8Array, FaultCode, string]>([
    [
      'RSA with 1024 bits',
      rsa(modulus(1024), f4),
      'badAlgorithm',
      'RSA keys must have at least 2048 bits, this one has 1024',
    ],
    ['RSA with 2047 bits', rsa(modulus(2047), f4), 'badAlgorithm', 'this one has 2047'],
    ['RSA with 8193 bits', rsa(modulus(8193), f4), 'badAlgorithm', 'at most 8192 bits, this one has 8193'],
    ['RSA with the exponent 3', rsa(modulus(2048), Uint8Array.of(3)), 'badAlgorithm', 'at least 65537'],
    ['RSA with an even exponent', rsa(modulus(2048), Uint8Array.of(1, 0, 2)), 'badAlgorithm', 'odd'],
    ['RSA with an endless exponent', rsa(modulus(2048), modulus(257)), 'badAlgorithm', '256 bits'],
    [
      'RSA with an exponent the library refuses',
      rsa(modulus(2048), modulus(200)),
      'badAlgorithm',
      'not usable',
    ],
    ['RSA with an exponent of 256 bits', rsa(modulus(2048), modulus(256)), 'badAlgorithm', 'not usable'],
    ['RSA with an even modulus', rsa(modulus(2048).with(-1, 2), f4), 'malformed', 'even'],
    ['RSA whose modulus is a power of 65537 modulo all small primes', rsa(roca, f4), 'badAlgorithm', 'ROCA'],
    ['RSA with nothing', rsa(new Uint8Array(1), f4), 'badAlgorithm', 'this one has 0'],
    [
      'RSA with a negative modulus',
      simple(
        algorithm(oid.rsaEncryption, Uint8Array.of(5, 0)),
        der((b) => b.sequence((s) => s.integer(-5).unsigned(f4))),
      ),
      'malformed',
      'negative',
    ],
    ['RSA without NULL', simple(algorithm(oid.rsaEncryption), point('rsa-2048')), 'malformed', ''],
    ['RSA for PSS', simple(algorithm(oid.rsaPss), point('rsa-2048')), 'badAlgorithm', 'RSASSA-PSS'],
    ['DSA', simple(algorithm('1.2.840.10040.4.1'), new Uint8Array(9)), 'badAlgorithm', '1.2.840.10040.4.1'],
    [
      'secp256k1',
      simple(algorithm(oid.ecPublicKey, curve('1.3.132.0.10')), point('p-256')),
      'badAlgorithm',
      'unknown elliptic curve',
    ],
    [
      'a curve by its parameters',
      simple(algorithm(oid.ecPublicKey, Uint8Array.of(0x30, 0)), point('p-256')),
      'badAlgorithm',
      'named',
    ],
    [
      'a compressed point',
      simple(algorithm(oid.ecPublicKey, curve(oid.p256)), point('p-256').subarray(0, 33).with(0, 2)),
      'badAlgorithm',
      'compressed',
    ],
    [
      'a point of another curve',
      simple(algorithm(oid.ecPublicKey, curve(oid.p384)), point('p-256')),
      'malformed',
      'p-384',
    ],
    [
      'the point at infinity',
      simple(algorithm(oid.ecPublicKey, curve(oid.p256)), new Uint8Array(1)),
      'malformed',
      'p-256',
    ],
    [
      'a point off its curve',
      simple(
        algorithm(oid.ecPublicKey, curve(oid.p256)),
        point('p-256').map((o, i) => (i === 64 ? o ^ 1 : o)),
      ),
      'badAlgorithm',
      'point',
    ],
    [
      'Ed25519 with parameters',
      simple(algorithm(oid.ed25519, Uint8Array.of(5, 0)), point('ed25519')),
      'malformed',
      '',
    ],
    [
      'Ed25519 that is too short',
      simple(algorithm(oid.ed25519), point('ed25519').subarray(1)),
      'malformed',
      '31 octets',
    ],
    [
      'ML-DSA-44 under the name of ML-DSA-65',
      simple(algorithm(oid.mlDsa65), point('ml-dsa-44')),
      'malformed',
      '1312 octets',
    ],
  ])('%s is rejected', (_, spki, code, text) => {
    const fault = refusal(spki);
    expect(fault.code).toBe(code);
    expect(fault.detail).toContain(text);
  });

  // The last two are other encodings of 0 and 1.
  test.each([
    ['0000000000000000000000000000000000000000000000000000000000000000', 4],
    ['0100000000000000000000000000000000000000000000000000000000000000', 1],
    ['26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', 8],
    ['c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a', 8],
    ['ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f', 2],
    ['edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f', 4],
    ['eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f', 1],
  ])('Ed25519 point %s of order %d is rejected with either sign', (y) => {
    const bytes = Uint8Array.fromHex(y);
    for (const signed of [bytes, bytes.with(31, bytes[31]! | 0x80)]) {
      const fault = refusal(simple(algorithm(oid.ed25519), signed));
      expect(fault.code).toBe('badAlgorithm');
      expect(fault.detail).toContain('can be forged');
    }
  });

  test('trailing bytes are rejected, outside and inside', () => {
    const { spki, bytes } = testKey('rsa-2048').publicKey;
    expect(refusal(Uint8Array.of(...spki, 0)).code).toBe('malformed');
    const longer = simple(algorithm(oid.rsaEncryption, Uint8Array.of(5, 0)), Uint8Array.of(...bytes, 0));
    expect(refusal(longer).code).toBe('malformed');
  });

  test('the key identifier is that of RFC 7093 §2 method 1', () => {
    const { publicKey } = testKey('p-256');
    const digest = new Bun.CryptoHasher('sha256').update(publicKey.bytes).digest('hex').toUpperCase();
    expect(hex(keyIdentifier(publicKey))).toBe(digest.slice(0, 40));
  });

  test('two keys are equal when their octets are', () => {
    const { publicKey } = testKey('p-256');
    expect(samePublicKey(publicKey, readPublicKey(publicKey.spki.slice()))).toBe(true);
    expect(samePublicKey(publicKey, testKey('p-256', 'another').publicKey)).toBe(false);
  });
});

describe('signatures', () => {
  for (const type of types) {
    for (const algorithm of signatureAlgorithms.filter((a) => signatureAlgorithmFits(a, type))) {
      test(`of ${algorithm} by ${type} are verified`, () => {
        const key = testKey(type);
        const signature = key.sign(algorithm, data);
        expect(verifySignature(key.publicKey, algorithm, data, signature)).toBe(true);
        expect(verifySignature(key.publicKey, algorithm, Buffer.from('something else'), signature)).toBe(
          false,
        );
        expect(verifySignature(key.publicKey, algorithm, data, signature.subarray(1))).toBe(false);
        expect(verifySignature(key.publicKey, algorithm, data, new Uint8Array())).toBe(false);
      });
    }
  }

  test('an algorithm of another key type gives false', () => {
    for (const type of types) {
      const signature = testKey(type).sign(defaultSignatureAlgorithm(type), data);
      for (const algorithm of signatureAlgorithms.filter((a) => !signatureAlgorithmFits(a, type))) {
        expect(verifySignature(testKey(type).publicKey, algorithm, data, signature)).toBe(false);
      }
    }
  });

  test('an ECDSA signature in raw r‖s form gives false', () => {
    const key = testKey('p-256');
    const { r, s } = { r: new Uint8Array(32).fill(1), s: new Uint8Array(32).fill(2) };
    expect(verifySignature(key.publicKey, 'ecdsa-sha256', data, Uint8Array.of(...r, ...s))).toBe(false);
  });

  test.each<[KeyType, readonly string[]]>([
    ['rsa-2048', ['-sha256']],
    ['p-384', ['-sha384']],
  ])('made by OpenSSL with %s are verified', (type, options) => {
    const key = testKey(type);
    const signature = openssl(
      ['dgst', ...options, '-sign', 'key.pem', '-out', 'sig', 'data'],
      { 'key.pem': key.pem(), data },
      ['sig'],
    ).file('sig');
    expect(verifySignature(key.publicKey, defaultSignatureAlgorithm(type), data, signature)).toBe(true);
  });

  test('by our Ed25519 key are verified by OpenSSL', () => {
    const key = testKey('ed25519');
    const { ok, text } = openssl(
      ['pkeyutl', '-verify', '-pubin', '-inkey', 'pub.pem', '-rawin', '-in', 'data', '-sigfile', 'sig'],
      { 'pub.pem': pem('PUBLIC KEY', key.publicKey.spki), data, sig: key.sign('ed25519', data) },
    );
    expect(text).toContain('Verified Successfully');
    expect(ok).toBe(true);
  });
});

describe('hostile keys', () => {
  test('arbitrary octets, and every key with octets changed, give a Fault or a key', () => {
    const spkis = types.map((type) => testKey(type).publicKey.spki);
    const changed = fc
      .tuple(fc.constantFrom(...spkis), fc.nat(), fc.integer({ min: 0, max: 255 }), fc.boolean())
      .map(([spki, at, octet, cut]) => {
        const copy = spki.slice(0, cut ? at % spki.length : spki.length);
        // Most mutations change the structure, which comes first.
        if (copy.length > 0) copy[at % Math.min(copy.length, 64)] = octet;
        return copy;
      });
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array({ maxLength: 100 }), { arbitrary: changed, weight: 5 }),
        (octets) => {
          try {
            expect(readPublicKey(octets).spki).toEqual(octets);
          } catch (error) {
            expect(error).toBeInstanceOf(Fault);
            expect(['malformed', 'badAlgorithm']).toContain((error as Fault).code);
          }
        },
      ),
      runs(1500),
    );
  });

  test('a key type that we do not support is named in the error', () => {
    const { publicKey } = generateKeyPairSync('x25519');
    const spki = new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }));
    expect(refusal(spki)).toMatchObject({
      code: 'badAlgorithm',
      detail: 'unknown type of public key 1.3.101.110',
    });
  });
});

test('a signature that the library cannot verify with the key is invalid', () => {
  const key = testKey('p-256');
  const signature = key.sign('ecdsa-sha256', Buffer.from('data'));
  // The last key is of another type than its record says, and the one before is none at all.
  for (const wrong of [undefined as never, testKey('ed25519').publicKey.key]) {
    const other = { ...key.publicKey, key: wrong };
    expect(verifySignature(other, 'ecdsa-sha256', Buffer.from('data'), signature)).toBe(false);
  }
});
