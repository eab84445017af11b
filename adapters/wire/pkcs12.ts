import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type DerBuilder, der } from '#core/der/builder.ts';
import { type DerReader, readDer } from '#core/der/reader.ts';
import { context, contextConstructed, tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { oid } from '#core/x509/oids.ts';
import { berToDer } from './ber.ts';
import {
  decryptWithPassword,
  encryptWithPassword,
  Iterations,
  type Pkcs12Hash,
  pkcs12Key,
  wrongPassword,
} from './password-encryption.ts';
import { plainPkcs8 } from './pkcs8.ts';

/** The contents of a PKCS #12 file (DER), in its order. */
export interface Pkcs12Contents {
  /** PKCS #8, unencrypted. */
  readonly privateKeys: readonly Uint8Array[];
  readonly certificates: readonly Uint8Array[];
}

const data = '1.2.840.113549.1.7.1';
const encryptedData = '1.2.840.113549.1.7.6';
const bag = (n: number): string => `1.2.840.113549.1.12.10.1.${n}`;
const [keyBag, shroudedKeyBag, certBag, nestedBags] = [bag(1), bag(2), bag(3), bag(6)];
const x509Certificate = '1.2.840.113549.1.9.22.1';
const friendlyName = '1.2.840.113549.1.9.20';
const localKeyId = '1.2.840.113549.1.9.21';

const mostCertificates = 200;
const mostKeys = 2;
const deepest = 3;

const hashes: Readonly<Record<string, Pkcs12Hash>> = {
  '1.3.14.3.2.26': 'sha1',
  [oid.sha256]: 'sha256',
  [oid.sha384]: 'sha384',
  [oid.sha512]: 'sha512',
};

/**
 * Reads a PKCS #12 file (RFC 7292, DER or BER) in password integrity mode. Faults: malformed, with field `password` for
 * a wrong password; unsupported.
 */
export async function readPkcs12(file: Uint8Array, password: string): Promise<Pkcs12Contents> {
  const iterations = new Iterations();
  const { contents, mac } = readDer(berToDer(file), (reader) => {
    const pfx = reader.sequence();
    if (pfx.smallInteger(255) !== 3) throw new Fault('malformed', 'PKCS #12: unknown version');
    const authSafe = pfx.sequence();
    if (authSafe.oid() !== data)
      throw new Fault('unsupported', 'PKCS #12: files protected by a signature are not supported');
    const contents = authSafe.read(contextConstructed(0)).octetString();
    return { contents, mac: pfx.optional(tag.sequence) };
  });
  if (mac) await verifyMac(mac, contents, password, iterations);
  const found: Found = { privateKeys: [], certificates: [] };
  const safe = new BagReader(found, password, iterations);
  for (const content of members(berToDer(contents))) await safe.readContentInfo(content);
  return found;
}

async function verifyMac(
  reader: DerReader,
  contents: Uint8Array,
  password: string,
  iterations: Iterations,
): Promise<void> {
  const info = reader.sequence();
  const which = info.sequence().oid();
  const expected = info.octetString();
  const salt = reader.octetString();
  const count = iterations.take(reader.empty ? 1 : reader.smallInteger(2 ** 31));
  const hash = hashes[which];
  if (!hash) throw new Fault('unsupported', 'PKCS #12: the MAC algorithm is not supported');
  const mac = await macOf({ hash, password, salt, iterations: count }, contents);
  if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) throw wrongPassword();
}

async function macOf(
  how: { hash: Pkcs12Hash; password: string; salt: Uint8Array; iterations: number },
  contents: Uint8Array,
): Promise<Uint8Array> {
  const length = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 }[how.hash];
  const key = await pkcs12Key({ ...how, purpose: 3, length });
  return createHmac(how.hash, key).update(contents).digest();
}

/** Returns the members of a SEQUENCE OF SEQUENCE. */
function members(encoded: Uint8Array): DerReader[] {
  return readDer(encoded, (reader) => {
    const list = reader.sequence();
    const found: DerReader[] = [];
    while (!list.empty) found.push(list.sequence());
    return found;
  });
}

interface Found {
  readonly privateKeys: Uint8Array[];
  readonly certificates: Uint8Array[];
}

class BagReader {
  readonly #found: Found;
  readonly #password: string;
  readonly #iterations: Iterations;

  constructor(found: Found, password: string, iterations: Iterations) {
    this.#found = found;
    this.#password = password;
    this.#iterations = iterations;
  }

  async readContentInfo(info: DerReader): Promise<void> {
    const which = info.oid();
    const content = info.read(contextConstructed(0));
    if (which === data) return this.#readBags(content.octetString(), 0);
    if (which !== encryptedData)
      throw new Fault('unsupported', 'PKCS #12: files encrypted for a public key are not supported');
    const body = content.sequence();
    body.smallInteger(2);
    const encrypted = body.sequence();
    encrypted.oid();
    const algorithm = encrypted.sequence();
    const bytes = implicitOctets(encrypted);
    const plain = await decryptWithPassword(algorithm, bytes, this.#password, this.#iterations);
    // The padding is valid by chance for one wrong key in 256, so check the contents too.
    if (!isDer(plain)) throw wrongPassword();
    return this.#readBags(plain, 0);
  }

  async #readBags(contents: Uint8Array, depth: number): Promise<void> {
    if (depth > deepest) throw new Fault('malformed', 'PKCS #12: nested too deeply');
    for (const one of members(berToDer(contents))) {
      const which = one.oid();
      const value = one.read(contextConstructed(0));
      if (which === keyBag) this.#addKey(value.element(tag.sequence));
      else if (which === shroudedKeyBag) this.#addKey(await this.#decryptKey(value.sequence()));
      else if (which === certBag) this.#addCertificate(value.sequence());
      else if (which === nestedBags) await this.#readBags(value.element(tag.sequence), depth + 1);
    }
  }

  #decryptKey(encrypted: DerReader): Promise<Uint8Array> {
    const algorithm = encrypted.sequence();
    return decryptWithPassword(algorithm, encrypted.octetString(), this.#password, this.#iterations);
  }

  #addKey(pkcs8: Uint8Array): void {
    if (this.#found.privateKeys.push(plainPkcs8(pkcs8)) > mostKeys)
      throw new Fault('malformed', 'PKCS #12: too many private keys');
  }

  #addCertificate(value: DerReader): void {
    if (value.oid() !== x509Certificate) return;
    const certificate = value.read(contextConstructed(0)).octetString();
    if (this.#found.certificates.push(certificate) > mostCertificates)
      throw new Fault('malformed', 'PKCS #12: too many certificates');
  }
}

function isDer(bytes: Uint8Array): boolean {
  try {
    berToDer(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Reads `[0] IMPLICIT OCTET STRING` in one piece or, from BER, in several. */
function implicitOctets(reader: DerReader): Uint8Array {
  if (reader.peek() === context(0)) return reader.contents(context(0));
  const pieces = reader.read(contextConstructed(0));
  const found: Uint8Array[] = [];
  while (!pieces.empty) found.push(pieces.octetString());
  return Buffer.concat(found);
}

/** The contents of a new PKCS #12 file (DER). */
export interface Pkcs12Input {
  /** PKCS #8, unencrypted. */
  readonly privateKey: Uint8Array;
  readonly certificate: Uint8Array;
  readonly chain: readonly Uint8Array[];
  /** The friendlyName, which the key stores of operating systems show. */
  readonly name: string;
}

const macIterations = 100_000;

/** Writes a PKCS #12 file (DER) with the algorithms of OpenSSL 3: PBES2 with AES-256, and a MAC with HMAC-SHA-256. */
export async function writePkcs12(input: Pkcs12Input, password: string): Promise<Uint8Array> {
  const keyId = randomBytes(8);
  const attributes = (bag: DerBuilder): void => {
    bag.setOf([
      attribute(friendlyName, (b) => b.add(tag.bmpString, Buffer.from(input.name, 'utf16le').swap16())),
      attribute(localKeyId, (b) => b.octetString(keyId)),
    ]);
  };
  const certificates = der((b) =>
    b.sequence((bags) => {
      addCertificate(bags, input.certificate, attributes);
      for (const certificate of input.chain) addCertificate(bags, certificate, () => {});
    }),
  );
  const key = await encryptWithPassword(input.privateKey, password);
  const keys = der((b) =>
    b.sequence((bags) =>
      bags.sequence((one) => {
        one.oid(shroudedKeyBag).explicit(0, (value) => {
          value.sequence((info) => info.raw(key.algorithm).octetString(key.encrypted));
        });
        attributes(one);
      }),
    ),
  );
  const shut = await encryptWithPassword(certificates, password);
  const contents = der((b) =>
    b.sequence((safe) => {
      safe.sequence((info) => {
        info.oid(encryptedData).explicit(0, (content) => {
          content.sequence((body) => {
            body.integer(0).sequence((encrypted) => {
              encrypted.oid(data).raw(shut.algorithm).octetString(shut.encrypted, context(0));
            });
          });
        });
      });
      safe.sequence((info) => info.oid(data).explicit(0, (content) => content.octetString(keys)));
    }),
  );
  const salt = randomBytes(16);
  const mac = await macOf({ hash: 'sha256', password, salt, iterations: macIterations }, contents);
  return der((b) =>
    b.sequence((pfx) => {
      pfx.integer(3);
      pfx.sequence((info) => info.oid(data).explicit(0, (content) => content.octetString(contents)));
      pfx.sequence((macData) => {
        macData.sequence((info) => info.sequence((a) => a.oid(oid.sha256).null()).octetString(mac));
        macData.octetString(salt).integer(macIterations);
      });
    }),
  );
}

function addCertificate(
  bags: DerBuilder,
  certificate: Uint8Array,
  attributes: (bag: DerBuilder) => void,
): void {
  bags.sequence((one) => {
    one.oid(certBag).explicit(0, (value) => {
      value.sequence((v) => v.oid(x509Certificate).explicit(0, (c) => c.octetString(certificate)));
    });
    attributes(one);
  });
}

const attribute = (type: string, add: (values: DerBuilder) => void): Uint8Array =>
  der((b) => b.sequence((one) => one.oid(type).set(add)));
