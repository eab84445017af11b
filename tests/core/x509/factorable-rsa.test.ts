import { describe, expect, test } from 'bun:test';
import { createPrivateKey, createPublicKey, generateKeyPairSync, generatePrimeSync, sign } from 'node:crypto';
import { join } from 'node:path';
import { decodePem } from '#adapters/wire/pem.ts';
import { demandUnfactored, factorable } from '#core/x509/factorable-rsa.ts';
import { decodePublicKey } from '#core/x509/public-key.ts';
import { installation, password, request } from '#tests/fixtures/installation.ts';
import type { TestKey } from '#tests/fixtures/keys.ts';
import { selfSigned } from '#tests/fixtures/outside-ca.ts';

const prime = (bits: number): bigint => generatePrimeSync(bits, { bigint: true });

function nextPrime(after: bigint): bigint {
  for (let candidate = after + 2n; ; candidate += 2n) if (isProbablePrime(candidate)) return candidate;
}

/** Fermat's test; good enough for the numbers of these tests. */
function isProbablePrime(candidate: bigint): boolean {
  for (const small of [3n, 5n, 7n, 11n, 13n]) if (candidate % small === 0n) return false;
  let [result, base, exponent] = [1n, 2n, candidate - 1n];
  for (; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % candidate;
    base = (base * base) % candidate;
  }
  return result === 1n;
}

/** A key with two consecutive primes, which requests a certificate. */
function neighbours(): TestKey {
  const p = prime(1024);
  const q = nextPrime(p);
  const [e, phi] = [65_537n, (p - 1n) * (q - 1n)];
  const inverse = (a: bigint, m: bigint): bigint => {
    let [r, next, t, nextT] = [m, a % m, 0n, 1n];
    while (next > 0n) [r, next, t, nextT] = [next, r % next, nextT, t - (r / next) * nextT];
    return ((t % m) + m) % m;
  };
  const d = inverse(e, phi);
  const numbers = { n: p * q, e, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
  const encoded = Object.entries(numbers).map(([name, number]) => {
    const digits = number.toString(16);
    return [
      name,
      Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex').toString('base64url'),
    ];
  });
  const privateKey = createPrivateKey({ key: { kty: 'RSA', ...Object.fromEntries(encoded) }, format: 'jwk' });
  return {
    privateKey,
    publicKey: publicKey(p * q),
    sign: (_, data) => new Uint8Array(sign('sha256', data, privateKey)),
    pem: () => privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
  };
}

test('no certificate is issued for a factorable key, to a device or by an administrator', async () => {
  const key = neighbours();
  await using site = await installation();
  const { password: secret } = await site.device('pump-1');
  const der = request(key, 'CN=pump-1');
  const refused = { code: 'badAlgorithm', detail: expect.stringContaining('too close') };
  expect(await site.enrol(password('pump-1', secret), {}, der).catch((fault) => fault)).toMatchObject(
    refused,
  );
  const create = site.gateway.certificates.create(site.admin, { commonName: 'x', csr: der });
  expect(await create.catch((fault) => fault)).toMatchObject({ ...refused, field: 'csr' });
  const material = {
    privateKey: new Uint8Array(key.privateKey.export({ format: 'der', type: 'pkcs8' })),
    certificate: decodePem(selfSigned(key.pem(), '/CN=Weak'))[0]!.der,
    chain: [],
  };
  site.clock.advance(Date.now() - site.clock.now());
  const imported = site.gateway.issuingCas.create(site.admin, { uniqueName: 'weak', type: 2, material });
  expect(await imported.catch((fault) => fault)).toMatchObject({ code: 'malformed', field: 'certificate' });
});

function publicKey(modulus: bigint) {
  const n = Buffer.from(modulus.toString(16).padStart(512, '0'), 'hex').toString('base64url');
  const key = createPublicKey({ key: { kty: 'RSA', n, e: 'AQAB' }, format: 'jwk' });
  return decodePublicKey(new Uint8Array(key.export({ format: 'der', type: 'spki' })));
}

/** Returns a modulus of exactly 2048 bits. */
function modulus(make: () => bigint): bigint {
  for (;;) {
    const made = make();
    if (made.toString(2).length === 2048) return made;
  }
}

const weak: Record<string, readonly [make: () => bigint, why: string]> = {
  'a square': [() => prime(1024) ** 2n, 'it is a square'],
  'two neighbouring primes': [
    () => {
      const p = prime(1024);
      return p * nextPrime(p);
    },
    'its two primes are too close',
  ],
  'the factor 3': [() => 3n * prime(2046), 'it has a small factor'],
  'the largest factor that is looked for': [() => 1_048_573n * prime(2028), 'it has a small factor'],
  'two small factors': [() => 65_537n * 65_537n * prime(2016), 'it has a small factor'],
};

describe('a factorable RSA key is rejected', () => {
  test.each(Object.entries(weak))('%s', async (_, [make, why]) => {
    const made = modulus(make);
    expect(factorable(made)).toBe(why);
    expect(await demandUnfactored(publicKey(made))?.catch((fault) => fault)).toMatchObject({
      code: 'badAlgorithm',
      detail: `the RSA key can be factored: ${why}`,
    });
  });

  test('a prime', async () => {
    const key = publicKey(modulus(() => prime(2048)));
    for (let n = 0; n < 2; n++)
      expect(await demandUnfactored(key)?.catch((fault) => fault)).toMatchObject({
        code: 'badAlgorithm',
        detail: 'the RSA key can be factored: its modulus is a prime',
      });
  });
});

test.each([2048, 3072])('a key of %p bits from OpenSSL is accepted, and examined once', async (bits) => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  const key = decodePublicKey(new Uint8Array(publicKey.export({ format: 'der', type: 'spki' })));
  expect(await demandUnfactored(key)).toBeUndefined();
  expect(demandUnfactored(key)).toBeUndefined();
});

test('other keys are not examined', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  expect(
    demandUnfactored(decodePublicKey(new Uint8Array(publicKey.export({ format: 'der', type: 'spki' })))),
  ).toBeUndefined();
});

test('other work continues while the first key of a process is examined', () => {
  // The primes are prepared once per process. The other work waits for the same threads as the examination: how often
  // timers and setImmediate run in between depends on the load of the machine.
  const module = join(import.meta.dir, '../../../core/x509/factorable-rsa.ts');
  const script = `
    import { checkPrime } from 'node:crypto';
    import { demandUnfactored } from ${JSON.stringify(module)};
    let turns = 0;
    let isExamining = true;
    const count = () => { turns++; if (isExamining) checkPrime(3n, count); };
    checkPrime(3n, count);
    const key = Buffer.from(process.argv.at(-1), 'base64');
    await demandUnfactored({ type: 'rsa-2048', bytes: key }).catch(({ detail }) => console.log(detail));
    isExamining = false;
    console.log(turns);`;
  const weakKey = Buffer.from(publicKey(modulus(() => 3n * prime(2046))).bytes).toString('base64');
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script, weakKey]);
  const [detail, turns] = stdout.toString().trim().split('\n');
  expect(detail).toBe('the RSA key can be factored: it has a small factor');
  expect(Number(turns)).toBeGreaterThan(16);
});
