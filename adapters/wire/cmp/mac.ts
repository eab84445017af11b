import { pbkdf2 } from 'node:crypto';
import { type DerBuilder, der } from '#core/der/builder.ts';
import { type DerReader, readDer } from '#core/der/reader.ts';
import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';

type MacHash = 'sha1' | 'sha224' | 'sha256' | 'sha384' | 'sha512';

/** The algorithm by which a shared secret protects a message. */
export type MacParameters =
  | {
      /** RFC 9810 §5.1.3.1. */
      readonly kind: 'passwordBasedMac';
      readonly salt: Uint8Array;
      /** The one-way function that derives the key. */
      readonly owf: MacHash;
      readonly iterations: number;
      /** The hash of the HMAC. */
      readonly mac: MacHash;
    }
  | {
      /** RFC 8018 §7.1 with PBKDF2 (RFC 9481 §6.1.2). */
      readonly kind: 'pbmac1';
      readonly salt: Uint8Array;
      readonly iterations: number;
      /** Octets. */
      readonly keyLength: number;
      /** The hash of PBKDF2's HMAC. */
      readonly prf: MacHash;
      readonly mac: MacHash;
    };

const passwordBasedMac = '1.2.840.113533.7.66.13';
const pbmac1 = '1.2.840.113549.1.5.14';
const pbkdf2Oid = '1.2.840.113549.1.5.12';

/** RFC 9481 §2.1. SHA-1, the default of OpenSSL's HMAC, is still secure in a MAC. */
const hashes: Readonly<Record<MacHash, string>> = {
  sha1: '1.3.14.3.2.26',
  sha224: '2.16.840.1.101.3.4.2.4',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
};

/** RFC 8018 §B.1.1, §B.1.2. */
const hmacs: Readonly<Record<MacHash, string>> = {
  sha1: '1.2.840.113549.2.7',
  sha224: '1.2.840.113549.2.8',
  sha256: '1.2.840.113549.2.9',
  sha384: '1.2.840.113549.2.10',
  sha512: '1.2.840.113549.2.11',
};
/** The OID of HMAC with SHA-1 in RFC 9481 §6.2.1. */
const hmacSha1 = '1.3.6.1.5.5.8.1.2';

const macOctets: Readonly<Record<MacHash, number>> = {
  sha1: 20,
  sha224: 28,
  sha256: 32,
  sha384: 48,
  sha512: 64,
};

const fewestIterations = 100;
const mostIterations = { passwordBasedMac: 100_000, pbmac1: 1_000_000 } as const;
const saltOctets = { least: 8, most: 128 } as const;
const keyOctets = { least: 16, most: 128 } as const;

const refused = (detail: string): Fault => new Fault('badAlgorithm', `CMP: ${detail}`);

/**
 * Decodes an AlgorithmIdentifier (DER). Returns undefined if it is not a password-based MAC. Faults: malformed;
 * badAlgorithm for unknown hashes, and for iteration counts, salts and key lengths out of range.
 */
export function readMacAlgorithm(identifier: Uint8Array): MacParameters | undefined {
  return readDer(identifier, (reader) => {
    const algorithm = reader.sequence();
    const which = algorithm.oid();
    if (which === passwordBasedMac) return readAll(algorithm, readPasswordBasedMac);
    if (which === pbmac1) return readAll(algorithm, readPbmac1);
    return undefined;
  });
}

function readAll<T>(algorithm: DerReader, read: (parameters: DerReader) => T): T {
  const parameters = algorithm.sequence();
  const value = read(parameters);
  parameters.finish();
  algorithm.finish();
  return value;
}

/** Reads PBMParameter. */
function readPasswordBasedMac(parameters: DerReader): MacParameters {
  const salt = readSalt(parameters);
  const owf = readHash(parameters.sequence(), hashes);
  const iterations = readIterations(parameters, mostIterations.passwordBasedMac);
  const mac = readHmac(parameters);
  return { kind: 'passwordBasedMac', salt, owf, iterations, mac };
}

/** Reads PBMAC1-params. */
function readPbmac1(parameters: DerReader): MacParameters {
  const derivation = parameters.sequence();
  if (derivation.oid() !== pbkdf2Oid) throw refused('PBMAC1 is accepted only with PBKDF2');
  const { keyLength, ...derived } = readAll(derivation, readPbkdf2);
  const mac = readHmac(parameters);
  return { kind: 'pbmac1', ...derived, keyLength: keyLength ?? macOctets[mac], mac };
}

/** Reads PBKDF2-params (RFC 8018 §A.2). */
function readPbkdf2(parameters: DerReader): Omit<
  MacParameters & { kind: 'pbmac1' },
  'kind' | 'mac' | 'keyLength'
> & {
  keyLength: number | undefined;
} {
  const salt = readSalt(parameters);
  const iterations = readIterations(parameters, mostIterations.pbmac1);
  const keyLength = parameters.peek() === tag.integer ? readKeyLength(parameters) : undefined;
  const prf = parameters.empty ? 'sha1' : readHmac(parameters);
  return { salt, iterations, keyLength, prf };
}

function readSalt(parameters: DerReader): Uint8Array {
  const salt = parameters.octetString();
  if (salt.length < saltOctets.least || salt.length > saltOctets.most) {
    throw refused(
      `a salt must have ${saltOctets.least} to ${saltOctets.most} octets, this one has ${salt.length}`,
    );
  }
  return salt;
}

function readIterations(parameters: DerReader, most: number): number {
  const iterations = readWithin(parameters, fewestIterations, most);
  if (iterations === undefined) {
    throw refused(`the iteration count must be between ${fewestIterations} and ${most}`);
  }
  return iterations;
}

function readKeyLength(parameters: DerReader): number {
  const length = readWithin(parameters, keyOctets.least, keyOctets.most);
  if (length === undefined) {
    throw refused(`the key must have ${keyOctets.least} to ${keyOctets.most} octets`);
  }
  return length;
}

/** The number of octets from which an INTEGER exceeds every range in this file. */
const tooManyOctets = 5;

/** Consumes an INTEGER; returns undefined if it is out of range. Checks the length before it builds the value. */
function readWithin(parameters: DerReader, least: number, most: number): number | undefined {
  const octets = parameters.integerBytes();
  if (octets.length >= tooManyOctets || octets[0]! >= 0x80) return undefined;
  const value = octets.reduce((number, octet) => number * 256 + octet, 0);
  return value >= least && value <= most ? value : undefined;
}

function readHmac(parameters: DerReader): MacHash {
  return readHash(parameters.sequence(), hmacs);
}

/** Reads a hash or HMAC, whose parameters are NULL or absent. */
function readHash(algorithm: DerReader, known: Readonly<Record<MacHash, string>>): MacHash {
  const which = algorithm.oid();
  if (!algorithm.empty) algorithm.null();
  algorithm.finish();
  if (known === hmacs && which === hmacSha1) return 'sha1';
  for (const name of Object.keys(known) as MacHash[]) if (known[name] === which) return name;
  throw refused(`unknown or weak algorithm ${which}`);
}

/** Returns the AlgorithmIdentifier (DER). */
export function macAlgorithm(parameters: MacParameters): Uint8Array {
  return der((b) =>
    b.sequence((algorithm) => {
      if (parameters.kind === 'passwordBasedMac') {
        const { salt, owf, iterations, mac } = parameters;
        algorithm.oid(passwordBasedMac).sequence((p) => {
          p.octetString(salt).sequence((s) => s.oid(hashes[owf]));
          p.integer(iterations);
          if (mac === 'sha1') p.sequence((s) => s.oid(hmacSha1));
          else addHmac(p, mac);
        });
      } else {
        algorithm.oid(pbmac1).sequence((p) => {
          p.sequence((derivation) => derivation.oid(pbkdf2Oid).sequence((s) => addPbkdf2(s, parameters)));
          addHmac(p, parameters.mac);
        });
      }
    }),
  );
}

function addPbkdf2(builder: DerBuilder, parameters: MacParameters & { kind: 'pbmac1' }): void {
  const { salt, iterations, keyLength, prf } = parameters;
  builder.octetString(salt).integer(iterations).integer(keyLength);
  // DER omits the default.
  if (prf !== 'sha1') addHmac(builder, prf);
}

const addHmac = (builder: DerBuilder, mac: MacHash): void =>
  void builder.sequence((s) => s.oid(hmacs[mac]).null());

/** Computes the MAC over `data`. Blocks the event loop for at most a few milliseconds at a time. */
export function computeMac(
  parameters: MacParameters,
  secret: Uint8Array,
  data: Uint8Array,
): Uint8Array | Promise<Uint8Array> {
  const key = deriveKey(parameters, secret);
  return key instanceof Promise
    ? key.then((derived) => hmac(parameters.mac, derived, data))
    : hmac(parameters.mac, key, data);
}

const hmac = (mac: MacHash, key: Uint8Array, data: Uint8Array): Uint8Array =>
  new Bun.CryptoHasher(mac, key).update(data).digest();

interface OneWay {
  /** Writes to an existing buffer, because allocating hundreds of them per message costs more than the hashing. */
  hash(data: Uint8Array, into: Uint8Array): unknown;
}

const oneWay: Readonly<Record<MacHash, OneWay>> = {
  sha1: Bun.SHA1,
  sha224: Bun.SHA224,
  sha256: Bun.SHA256,
  sha384: Bun.SHA384,
  sha512: Bun.SHA512,
};

/** A few milliseconds of work. */
const iterationsAtOnce = 10_000;

function deriveKey(parameters: MacParameters, secret: Uint8Array): Uint8Array | Promise<Uint8Array> {
  if (parameters.kind === 'pbmac1') {
    const { salt, iterations, keyLength, prf } = parameters;
    return new Promise((resolve, reject) => {
      pbkdf2(secret, salt, iterations, keyLength, prf, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  }
  const { owf, iterations, salt } = parameters;
  const hash = oneWay[owf];
  const key = new Uint8Array(macOctets[owf]);
  hash.hash(Buffer.concat([secret, salt]), key);
  return iterations <= iterationsAtOnce
    ? iterated(hash, key, iterations - 1)
    : iteratedInTurns(hash, key, iterations - 1);
}

function iterated(hash: OneWay, key: Uint8Array, times: number): Uint8Array {
  for (let done = 0; done < times; done++) hash.hash(key, key);
  return key;
}

async function iteratedInTurns(hash: OneWay, key: Uint8Array, times: number): Promise<Uint8Array> {
  for (let done = 0; done < times; done += iterationsAtOnce) {
    iterated(hash, key, Math.min(iterationsAtOnce, times - done));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return key;
}
