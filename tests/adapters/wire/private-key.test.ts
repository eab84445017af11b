import { describe, expect, test } from 'bun:test';
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { publicKeyOf, readPrivateKey } from '#adapters/wire/private-key.ts';
import { der } from '#core/der/builder.ts';
import { DerReader } from '#core/der/reader.ts';
import { Fault } from '#core/fault.ts';
import { type TestKey, testKey } from '#tests/fixtures/keys.ts';
import { openssl } from '#tests/fixtures/openssl.ts';

const password = 'correct horse';
const ec = testKey('p-256', 'private-key');
const rsa = testKey('rsa-2048', 'private-key');
const ed = testKey('ed25519', 'private-key');
const mlDsa = testKey('ml-dsa-44', 'private-key');

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const pemOf = (key: KeyObject, type: 'pkcs8' | 'sec1' | 'pkcs1'): Uint8Array =>
  bytes(key.export({ format: 'pem', type } as { format: 'pem'; type: 'pkcs8' }) as string);
const converted = (key: { pem(): string }, ...options: string[]): Uint8Array =>
  openssl(['pkcs8', '-topk8', '-in', 'key.pem', '-out', 'out', ...options], { 'key.pem': key.pem() }, [
    'out',
  ]).file('out');

/** Returns a PrivateKeyInfo of the key with another version, other key octets or an additional field. */
function rewritten(
  { privateKey }: TestKey,
  version: number,
  change: (key: Uint8Array) => Uint8Array,
  more = new Uint8Array(0),
): Uint8Array {
  const info = new DerReader(privateKey.export({ format: 'der', type: 'pkcs8' })).sequence();
  info.integer();
  const algorithm = info.element();
  const key = change(info.octetString());
  return der((b) => b.sequence((s) => s.integer(version).raw(algorithm).octetString(key).raw(more)));
}

describe('a private key is read:', () => {
  for (const [name, key, input] of [
    ['PKCS #8 in PEM', ec, pemOf(ec.privateKey, 'pkcs8')],
    ['SEC 1 in PEM', ec, pemOf(ec.privateKey, 'sec1')],
    [
      'SEC 1 after its parameters',
      ec,
      bytes(
        `-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${pemOf(ec.privateKey, 'sec1').toString()}`,
      ),
    ],
    ['PKCS #1 in PEM', rsa, pemOf(rsa.privateKey, 'pkcs1')],
    ['Ed25519', ed, pemOf(ed.privateKey, 'pkcs8')],
    [
      'PKCS #8 of version 2, with the public key',
      ed,
      rewritten(ed, 1, (key) => key, Uint8Array.of(0x81, 0x21, 0, ...ed.publicKey.bytes)),
    ],
    [
      'ML-DSA as seed and expanded key',
      mlDsa,
      rewritten(mlDsa, 0, (seed) =>
        der((b) => b.sequence((s) => s.octetString(seed.subarray(2)).octetString(new Uint8Array(2560)))),
      ),
    ],
    ['PKCS #8 in DER', rsa, new Uint8Array(rsa.privateKey.export({ format: 'der', type: 'pkcs8' }))],
    ['encrypted by AES-256', ec, converted(ec, '-v2', 'aes-256-cbc', '-passout', `pass:${password}`)],
    [
      'encrypted by triple DES with SHA-1',
      rsa,
      converted(rsa, '-v2', 'des3', '-v2prf', 'hmacWithSHA1', '-passout', `pass:${password}`),
    ],
    ['encrypted in DER', ec, converted(ec, '-outform', 'DER', '-passout', `pass:${password}`)],
    ['encrypted as in PKCS #12', ec, converted(ec, '-v1', 'PBE-SHA1-3DES', '-passout', `pass:${password}`)],
  ] as const) {
    test(name, async () => {
      const pkcs8 = await readPrivateKey(input, password);
      const read = createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' });
      expect(read.equals(key.privateKey)).toBe(true);
      expect(Buffer.from(publicKeyOf(pkcs8))).toEqual(Buffer.from(key.publicKey.spki));
    });
  }
});

describe('a private key is rejected:', () => {
  for (const [name, input, expected] of [
    ['a wrong password', converted(ec, '-passout', 'pass:other'), { code: 'malformed', field: 'password' }],
    ['nothing', new Uint8Array(0), { code: 'malformed' }],
    ['text', bytes('no key'), { code: 'malformed' }],
    ['two keys', bytes(ec.pem() + rsa.pem()), { code: 'malformed' }],
    ['another PEM block', bytes(ec.pem().replaceAll('PRIVATE KEY', 'PUBLIC KEY')), { code: 'malformed' }],
    [
      'a key cut short',
      new Uint8Array(ec.privateKey.export({ format: 'der', type: 'pkcs8' })).subarray(0, -3),
      { code: 'malformed' },
    ],
    [
      'encrypted by scrypt',
      converted(ec, '-scrypt', '-passout', `pass:${password}`),
      { code: 'unsupported' },
    ],
    [
      'hashed too often',
      converted(ec, '-iter', '4000000', '-passout', `pass:${password}`),
      { code: 'unsupported' },
    ],
  ] as const) {
    test(name, async () => {
      const fault = await readPrivateKey(input, password).catch((error) => error);
      expect(fault).toBeInstanceOf(Fault);
      expect(fault).toMatchObject(expected);
    });
  }
});
