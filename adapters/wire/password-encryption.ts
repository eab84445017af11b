import { createCipheriv, createDecipheriv, hash as digest, pbkdf2, randomBytes } from 'node:crypto';
import { der } from '#core/der/builder.ts';
import type { DerReader } from '#core/der/reader.ts';
import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';

/** Limits the hash iterations for one file, because the sender of the file chooses the counts. */
export class Iterations {
  #left = 3_000_000;

  /** Faults: unsupported. */
  take(count: number): number {
    this.#left -= count;
    if (count < 1 || this.#left < 0)
      throw new Fault('unsupported', 'the file requires too many iterations to hash the password');
    return count;
  }
}

/** Runs in another thread. */
const pbkdf2Key = (
  password: string,
  salt: Uint8Array,
  iterations: number,
  octets: number,
  hash: string,
): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    pbkdf2(Buffer.from(password, 'utf8'), salt, iterations, octets, hash, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });

const pbes2 = '1.2.840.113549.1.5.13';
const pbkdf2Oid = '1.2.840.113549.1.5.12';
const hmacWithSha256 = '1.2.840.113549.2.9';
const aes256Cbc = '2.16.840.1.101.3.4.1.42';

/** RFC 8018 §B.1.1. */
const prfs: Readonly<Record<string, string>> = {
  '1.2.840.113549.2.7': 'sha1',
  '1.2.840.113549.2.8': 'sha224',
  [hmacWithSha256]: 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};

/** Ciphers with the octets of their keys. */
const ciphers: Readonly<Record<string, readonly [cipher: string, key: number]>> = {
  '2.16.840.1.101.3.4.1.2': ['aes-128-cbc', 16],
  '2.16.840.1.101.3.4.1.22': ['aes-192-cbc', 24],
  [aes256Cbc]: ['aes-256-cbc', 32],
  '1.2.840.113549.3.7': ['des-ede3-cbc', 24],
};

/** The encryption schemes of PKCS #12 files before PBES2 (RFC 7292 §C). */
const oldCiphers: Readonly<Record<string, readonly [cipher: string, key: number]>> = {
  '1.2.840.113549.1.12.1.3': ['des-ede3-cbc', 24],
  '1.2.840.113549.1.12.1.5': ['rc2-cbc', 16],
  '1.2.840.113549.1.12.1.6': ['rc2-40-cbc', 5],
};

/**
 * Decrypts data that is encrypted with a password: PBES2 (RFC 8018 §6.2) or one of the older schemes of PKCS #12.
 * `algorithm`: the contents of the AlgorithmIdentifier. Faults: malformed, with field `password` for a wrong password;
 * unsupported.
 */
export async function decryptWithPassword(
  algorithm: DerReader,
  encrypted: Uint8Array,
  password: string,
  iterations: Iterations,
): Promise<Uint8Array> {
  const which = algorithm.oid();
  const parameters = algorithm.sequence();
  algorithm.finish();
  const { cipher, key, iv } =
    which === pbes2
      ? await pbes2Key(parameters, password, iterations)
      : await oldKey(which, parameters, password, iterations);
  try {
    const decipher = createDecipheriv(cipher, key, iv);
    return Buffer.concat([decipher.update(encrypted), decipher.final()]);
  } catch (cause) {
    throw wrongPassword(cause);
  }
}

export const wrongPassword = (cause?: unknown): Fault =>
  new Fault('malformed', 'the password is wrong', { field: 'password', cause });

interface CipherKey {
  readonly cipher: string;
  readonly key: Uint8Array;
  readonly iv: Uint8Array;
}

async function pbes2Key(parameters: DerReader, password: string, iterations: Iterations): Promise<CipherKey> {
  const derivation = parameters.sequence();
  const scheme = parameters.sequence();
  parameters.finish();
  if (derivation.oid() !== pbkdf2Oid) throw unsupported('key derivation');
  const [cipher, octets] = ciphers[scheme.oid()] ?? [];
  if (!cipher || !octets) throw unsupported('cipher');
  const iv = scheme.octetString();
  scheme.finish();
  const rules = derivation.sequence();
  derivation.finish();
  const salt = rules.octetString();
  const count = iterations.take(rules.smallInteger(2 ** 31));
  if (rules.peek() === tag.integer) rules.smallInteger(1024);
  let prf = 'sha1';
  if (!rules.empty) {
    const named = rules.sequence();
    prf = prfs[named.oid()] ?? '';
  }
  if (prf === '') throw unsupported('hash function');
  const key = await pbkdf2Key(password, salt, count, octets, prf);
  return { cipher, key, iv };
}

async function oldKey(
  which: string,
  parameters: DerReader,
  password: string,
  iterations: Iterations,
): Promise<CipherKey> {
  const [cipher, octets] = oldCiphers[which] ?? [];
  if (!cipher || !octets) throw unsupported('encryption');
  const salt = parameters.octetString();
  const count = iterations.take(parameters.smallInteger(2 ** 31));
  const derive = (purpose: number, length: number) =>
    pkcs12Key({ hash: 'sha1', password, salt, purpose, iterations: count, length });
  return { cipher, key: await derive(1, octets), iv: await derive(2, 8) };
}

const unsupported = (what: string): Fault =>
  new Fault('unsupported', `the file is encrypted with an unsupported ${what}`);

const blockOctets = { sha1: 64, sha256: 64, sha384: 128, sha512: 128 } as const;

export type Pkcs12Hash = keyof typeof blockOctets;

interface KeyDerivation {
  readonly hash: Pkcs12Hash;
  readonly password: string;
  readonly salt: Uint8Array;
  /** 1: encryption key, 2: initialisation vector, 3: MAC key. */
  readonly purpose: number;
  readonly iterations: number;
  readonly length: number;
}

const atOnce = 10_000;

/**
 * Derives a key (RFC 7292 §B.2). Yields to other work before it starts, because a file may have many keys with few
 * iterations, and at intervals.
 */
export async function pkcs12Key(derivation: KeyDerivation): Promise<Uint8Array> {
  await new Promise(setImmediate);
  const { hash, purpose, iterations, length } = derivation;
  const v = blockOctets[hash];
  // Big-endian UTF-16 with a terminating NUL.
  const password = Buffer.from(`${derivation.password}\0`, 'utf16le').swap16();
  const repeated = (bytes: Uint8Array): Uint8Array => {
    const octets = v * Math.ceil(bytes.length / v);
    return Uint8Array.from({ length: octets }, (_, i) => bytes[i % bytes.length]!);
  };
  const input = Buffer.concat([repeated(derivation.salt), repeated(password)]);
  const diversifier = new Uint8Array(v).fill(purpose);
  const blocks: Uint8Array[] = [];
  for (let made = 0; made < length; ) {
    let block: Uint8Array = digest(hash, Buffer.concat([diversifier, input]), 'buffer');
    for (let n = 1; n < iterations; n++) {
      block = digest(hash, block, 'buffer');
      if (n % atOnce === 0) await new Promise(setImmediate);
    }
    blocks.push(block);
    made += block.length;
    const addend = Uint8Array.from({ length: v }, (_, i) => block[i % block.length]!);
    for (let at = 0; at < input.length; at += v) addOneMore(input.subarray(at, at + v), addend);
  }
  return Buffer.concat(blocks).subarray(0, length);
}

/** Computes number + addend + 1 in place, modulo its size. Most significant octet first. */
function addOneMore(number: Uint8Array, addend: Uint8Array): void {
  let carry = 1;
  for (let i = number.length - 1; i >= 0; i--) {
    carry += number[i]! + addend[i]!;
    number[i] = carry & 0xff;
    carry >>= 8;
  }
}

const ownIterations = 100_000;

/** Encrypts with PBES2: AES-256, and PBKDF2 with HMAC-SHA-256. */
export async function encryptWithPassword(
  plain: Uint8Array,
  password: string,
): Promise<{ readonly algorithm: Uint8Array; readonly encrypted: Uint8Array }> {
  const salt = randomBytes(16);
  const iv = randomBytes(16);
  const key = await pbkdf2Key(password, salt, ownIterations, 32, 'sha256');
  const cipher = createCipheriv('aes-256-cbc', key, iv);
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()]);
  const algorithm = der((b) =>
    b.sequence((identifier) =>
      identifier.oid(pbes2).sequence((parameters) =>
        parameters
          .sequence((derivation) =>
            derivation.oid(pbkdf2Oid).sequence((rules) =>
              rules
                .octetString(salt)
                .integer(ownIterations)
                .sequence((prf) => prf.oid(hmacWithSha256).null()),
            ),
          )
          .sequence((scheme) => scheme.oid(aes256Cbc).octetString(iv)),
      ),
    ),
  );
  return { algorithm, encrypted };
}
