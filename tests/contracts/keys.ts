import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { constants, createHash, createPrivateKey, createPublicKey, verify } from 'node:crypto';
import { readDer } from '#core/der/reader.ts';
import { Fault, type FaultCode } from '#core/fault.ts';
import type { KeyStore, StoredKey } from '#core/ports/keys.ts';
import {
  type KeyType,
  pssSaltLength,
  type SignatureAlgorithm,
  signatureAlgorithmFits,
  signatureAlgorithms,
  signatureHash,
} from '#core/x509/algorithm.ts';
import { readPublicKey } from '#core/x509/public-key.ts';
import { testKey } from '#tests/fixtures/keys.ts';

/** A place that holds keys. */
interface KeyPlace {
  /** Opens the same keys each time; two stores may be open at once. */
  open(): Promise<KeyStore>;
  /** Removes the place. */
  remove(): Promise<void>;
}

const keyTypes: readonly KeyType[] = [
  'rsa-2048',
  'rsa-3072',
  'rsa-4096',
  'p-256',
  'p-384',
  'p-521',
  'ed25519',
  'ml-dsa-44',
  'ml-dsa-65',
  'ml-dsa-87',
];
const noKeyTypes = ['rsa-1024', 'rsa-512', 'rsa-99999', 'rsa-2048.5', 'p-192', 'x'] as readonly string[];
const foreignIds = [
  '00000000-0000-4000-8000-000000000000',
  '',
  '.',
  '../x',
  '/etc/passwd',
  'a\u0000b',
  '%',
  '-'.repeat(36),
  'f'.repeat(10_000),
];
const data = Buffer.from('to be signed');
const patience = 60_000;

/** Executes the comments of core/ports/keys.ts. Skipped if the machine lacks what the key store needs. */
export function keyStoreContract(name: string, prepare: () => Promise<KeyPlace>, isHere = true): void {
  describe.skipIf(!isHere)(`${name} as a key store`, () => {
    let place: KeyPlace;
    let keys: KeyStore;
    /** Makes one key of every type that the store supports. */
    const made = new Map<KeyType, StoredKey>();
    const offers = (type: KeyType): boolean => keys.keyTypes === 'all' || keys.keyTypes.includes(type);
    const anyKey = (): [KeyType, StoredKey] => {
      const [first] = made;
      if (!first) throw new Error('the store makes no keys');
      return first;
    };

    beforeAll(async () => {
      place = await prepare();
      keys = await place.open();
      for (const type of keyTypes)
        if (offers(type)) made.set(type, await keys.generate(type, `a ${type} key`));
    }, patience);

    afterAll(async () => {
      await keys.close();
      await place.remove();
    });

    for (const type of keyTypes) {
      test(`makes a key of type ${type}, or rejects the type with badAlgorithm`, async () => {
        const key = made.get(type);
        if (!key) return expect(await faultOf(() => keys.generate(type, 'refused'))).toBe('badAlgorithm');
        expect(readPublicKey(key.spki).type).toBe(type);
        expect(key.id).toMatch(/^[A-Za-z0-9-]{1,64}$/);
        expect(Buffer.from(await keys.publicKey(key.id))).toEqual(Buffer.from(key.spki));
      });

      for (const algorithm of signatureAlgorithms) {
        const fits = signatureAlgorithmFits(algorithm, type);
        test(`${fits ? 'signs' : 'does not sign'} with ${algorithm} and a key of type ${type}`, async () => {
          const key = made.get(type);
          if (!key) return expect(offers(type)).toBe(false);
          if (!fits)
            return expect(await faultOf(() => keys.sign(key.id, algorithm, data))).toBe('badAlgorithm');
          const signature = await keys.sign(key.id, algorithm, data);
          expect(verified(key.spki, algorithm, data, signature)).toBe(true);
          if (type.startsWith('p-')) expect(isEcdsaSignature(signature)).toBe(true);
        });

        const hash = algorithm.startsWith('rsa-pss-') ? undefined : signatureHash(algorithm);
        const signs = fits && hash !== undefined;
        test(`${signs ? 'signs' : 'does not sign'} a digest with ${algorithm} and a key of type ${type}, if it signs digests`, async () => {
          const key = made.get(type);
          if (!key || !keys.signDigest) return expect(keys.signDigest && offers(type)).toBeFalsy();
          const digest = createHash(hash ?? 'sha256')
            .update(data)
            .digest();
          if (!signs) {
            return expect(await faultOf(() => keys.signDigest!(key.id, algorithm, digest))).toBe(
              'badAlgorithm',
            );
          }
          const signature = await keys.signDigest(key.id, algorithm, digest);
          expect(verified(key.spki, algorithm, data, signature)).toBe(true);
          for (const wrong of [digest.subarray(1), Buffer.concat([digest, digest]), new Uint8Array(0)]) {
            expect(await faultOf(() => keys.signDigest!(key.id, algorithm, wrong))).toBe('badAlgorithm');
          }
        });
      }
    }

    test.each(noKeyTypes)('rejects the key type %s', async (type) => {
      expect(await faultOf(() => keys.generate(type as KeyType, 'refused'))).toBe('badAlgorithm');
    });

    test(
      'gives every key a different id',
      async () => {
        const [type] = anyKey();
        const cheap = offers('p-256') ? 'p-256' : type;
        const more = await Promise.all(
          Array.from({ length: 5 }, () => keys.generate(cheap, 'the same label')),
        );
        const ids = [...made.values(), ...more].map((key) => key.id);
        expect(new Set(ids).size).toBe(ids.length);
        for (const key of more) await keys.remove(key.id);
      },
      patience,
    );

    test(
      'signs empty and large data',
      async () => {
        for (const [type, key] of made) {
          const algorithm = fitting(type);
          for (const length of [0, 1_000_000]) {
            const bytes = new Uint8Array(length).fill(7);
            expect(verified(key.spki, algorithm, bytes, await keys.sign(key.id, algorithm, bytes))).toBe(
              true,
            );
          }
        }
      },
      patience,
    );

    test(
      'makes fifty signatures concurrently, each with the right key',
      async () => {
        const all = [...made];
        const jobs = Array.from({ length: 50 }, async (_, i) => {
          const [type, key] = all[i % all.length]!;
          const message = Buffer.from(`message ${i}`);
          const signature = await keys.sign(key.id, fitting(type), message);
          return verified(key.spki, fitting(type), message, signature);
        });
        expect(await Promise.all(jobs)).toEqual(Array.from({ length: 50 }, () => true));
      },
      patience,
    );

    test(
      'keeps its keys when it is closed and opened again',
      async () => {
        const first = await place.open();
        const [type, known] = anyKey();
        const fresh = await first.generate(type, 'durable');
        await first.close();
        const second = await place.open();
        for (const key of [known, fresh]) {
          expect(Buffer.from(await second.publicKey(key.id))).toEqual(Buffer.from(key.spki));
          const signature = await second.sign(key.id, fitting(type), data);
          expect(verified(key.spki, fitting(type), data, signature)).toBe(true);
        }
        await second.remove(fresh.id);
        await second.close();
      },
      patience,
    );

    test(
      'finds a key that another process made while the store was open',
      async () => {
        const other = await place.open();
        const [type] = anyKey();
        const key = await other.generate(type, 'made elsewhere');
        const signature = await keys.sign(key.id, fitting(type), data);
        expect(verified(key.spki, fitting(type), data, signature)).toBe(true);
        await keys.remove(key.id);
        await other.close();
      },
      patience,
    );

    test(
      'does not know a removed key',
      async () => {
        const [type] = anyKey();
        const key = await keys.generate(type, 'short-lived');
        await keys.sign(key.id, fitting(type), data);
        await keys.remove(key.id);
        expect(await faultOf(() => keys.sign(key.id, fitting(type), data))).toBe('notFound');
        expect(await faultOf(() => keys.publicKey(key.id))).toBe('notFound');
        if (keys.export) expect(await faultOf(() => keys.export!(key.id))).toBe('notFound');
      },
      patience,
    );

    test(
      'removes a key that does not exist without an error',
      async () => {
        const [type] = anyKey();
        const key = await keys.generate(type, 'removed twice');
        await keys.remove(key.id);
        await keys.remove(key.id);
        expect(await faultOf(() => keys.publicKey(key.id))).toBe('notFound');
      },
      patience,
    );

    test('does not know an id that it did not assign, in any spelling', async () => {
      const [type] = anyKey();
      for (const id of foreignIds) {
        expect(await faultOf(() => keys.publicKey(id))).toBe('notFound');
        expect(await faultOf(() => keys.sign(id, fitting(type), data))).toBe('notFound');
        if (keys.signDigest) {
          expect(await faultOf(() => keys.signDigest!(id, fitting(type), data))).toBe('notFound');
        }
        if (keys.export) expect(await faultOf(() => keys.export!(id))).toBe('notFound');
        await keys.remove(id);
      }
      for (const key of made.values()) expect(await keys.publicKey(key.id)).toHaveLength(key.spki.length);
    });

    test('reports good health', async () => {
      expect(await keys.health()).toMatchObject({ ok: true });
    });

    for (const type of keyTypes) {
      test(
        `imports a key of type ${type} and signs with it, if it imports keys`,
        async () => {
          if (!keys.import || !offers(type)) return expect(keys.import && offers(type)).toBeFalsy();
          const outside = testKey(type);
          const key = await keys.import(pkcs8Of(type), 'imported');
          expect(Buffer.from(key.spki)).toEqual(Buffer.from(outside.publicKey.spki));
          const signature = await keys.sign(key.id, fitting(type), data);
          expect(verified(outside.publicKey.spki, fitting(type), data, signature)).toBe(true);
          await keys.remove(key.id);
        },
        patience,
      );
    }

    test('rejects data that is not a private key, if it imports keys', async () => {
      if (!keys.import) return expect(keys.import).toBeUndefined();
      const [type] = anyKey();
      const pkcs8 = pkcs8Of(type);
      for (const bytes of [new Uint8Array(0), pkcs8.subarray(0, -1), testKey(type).publicKey.spki]) {
        expect(await faultOf(() => keys.import!(bytes, 'refused'))).toBe('malformed');
      }
    });

    test(
      'exports PKCS#8 that another store reads as the same key, if it exports keys',
      async () => {
        if (!keys.export) return expect(keys.export).toBeUndefined();
        for (const [type, key] of made) {
          const pkcs8 = Buffer.from(await keys.export(key.id));
          const publicKey = createPublicKey(createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }));
          expect(publicKey.export({ format: 'der', type: 'spki' })).toEqual(Buffer.from(key.spki));
          if (!keys.import) continue;
          const again = await keys.import(pkcs8, type);
          expect(again.id).not.toBe(key.id);
          expect(Buffer.from(again.spki)).toEqual(Buffer.from(key.spki));
          await keys.remove(again.id);
        }
      },
      patience,
    );
  });
}

const fitting = (type: KeyType): SignatureAlgorithm =>
  signatureAlgorithms.find((algorithm) => signatureAlgorithmFits(algorithm, type))!;

const pkcs8Of = (type: KeyType): Uint8Array =>
  Uint8Array.from(testKey(type).privateKey.export({ format: 'der', type: 'pkcs8' }));

/** Returns the code of a Fault that is thrown or rejected with; rethrows other errors. */
async function faultOf(action: () => unknown): Promise<FaultCode | undefined> {
  try {
    await action();
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

/** Verifies with node:crypto alone and the X.509 definition of each algorithm. */
function verified(
  spki: Uint8Array,
  algorithm: SignatureAlgorithm,
  bytes: Uint8Array,
  signature: Uint8Array,
): boolean {
  const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  const saltLength = pssSaltLength(algorithm);
  const how = saltLength === undefined ? key : { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
  return verify(signatureHash(algorithm), bytes, how, signature);
}

/** ECDSA-Sig-Value (RFC 5480 §A). */
function isEcdsaSignature(signature: Uint8Array): boolean {
  return readDer(signature, (reader) => {
    const value = reader.sequence();
    value.integerBytes();
    value.integerBytes();
    value.finish();
    return true;
  });
}
