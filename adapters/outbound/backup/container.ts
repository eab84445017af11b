import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { Fault } from '#core/fault.ts';

/**
 * A stream encrypted with a passphrase: a header, then chunks of 64 KiB (the last one shorter or empty), each sealed
 * with AES-256-GCM and followed by its tag. scrypt derives the key from the passphrase and the salt in the header, so
 * each file has its own key, and the nonce can be the number of the chunk (11 octets) and whether it is the last (1
 * octet). This is the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár 2015), which age uses too. A chunk
 * cannot be modified, moved or removed, nor the end cut off, without detection.
 */
const magic = Buffer.from('postern backup\0\u0001', 'latin1');
const saltLength = 16;
const headerLength = magic.length + saltLength;
const chunkLength = 64 * 1024;
const tagLength = 16;
const cipherName = 'aes-256-gcm';
/** The cost of version 1, the last octet of `magic`: 128 MiB, a third of a second. */
const usual: Cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 };

/** The cost parameters of scrypt. */
interface Cost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
  readonly maxmem?: number;
}

export async function* seal(
  plain: AsyncIterable<Uint8Array>,
  passphrase: string,
  cost: Cost = usual,
): AsyncGenerator<Uint8Array, void, undefined> {
  const salt = randomBytes(saltLength);
  const header = Buffer.concat([magic, salt]);
  const key = await derive(passphrase, salt, cost);
  yield header;
  let n = 0;
  for await (const { chunk, last } of chunks(plain, chunkLength)) {
    const cipher = createCipheriv(cipherName, key, nonce(n++, last));
    cipher.setAAD(header);
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
  }
}

/**
 * Decrypts a stream. Each piece is authentic, but the stream is complete only once its end has been reached. Faults:
 * malformed (not a backup, truncated, modified), unsupported (a later version), forbidden (the first chunk cannot be
 * decrypted, most likely because of a wrong passphrase).
 */
export async function* open(
  sealed: AsyncIterable<Uint8Array>,
  passphrase: string,
  cost: Cost = usual,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { header, rest } = await readHeader(sealed);
  const key = await derive(passphrase, header.subarray(magic.length), cost);
  let n = 0;
  for await (const { chunk, last } of chunks(rest, chunkLength + tagLength)) {
    const decipher = createDecipheriv(cipherName, key, nonce(n, last), { authTagLength: tagLength });
    decipher.setAAD(header);
    if (chunk.length < tagLength) throw damaged();
    decipher.setAuthTag(chunk.subarray(-tagLength));
    const plain = decipher.update(chunk.subarray(0, -tagLength));
    try {
      decipher.final();
    } catch {
      if (n === 0) throw new Fault('forbidden', 'wrong passphrase, or the backup is damaged');
      throw damaged();
    }
    yield plain;
    n++;
  }
}

const damaged = (): Fault => new Fault('malformed', 'the backup is damaged or incomplete');

function nonce(n: number, last: boolean): Uint8Array {
  const bytes = Buffer.alloc(12);
  bytes.writeUIntBE(n, 5, 6);
  bytes[11] = last ? 1 : 0;
  return bytes;
}

/** Splits `source` into pieces of `length` octets. The last one is marked and has 0 to `length` octets. */
async function* chunks(source: AsyncIterable<Uint8Array>, length: number) {
  let pending: Uint8Array[] = [];
  let size = 0;
  for await (const piece of source) {
    pending.push(piece);
    size += piece.length;
    if (size <= length) continue;
    const all = Buffer.concat(pending);
    let at = 0;
    // Keep the last octets: only the end of the source shows which chunk is the last.
    for (; all.length - at > length; at += length) {
      yield { chunk: all.subarray(at, at + length), last: false };
    }
    pending = [Buffer.from(all.subarray(at))];
    size = all.length - at;
  }
  yield { chunk: Buffer.concat(pending), last: true };
}

async function readHeader(
  source: AsyncIterable<Uint8Array>,
): Promise<{ header: Buffer; rest: AsyncIterable<Uint8Array> }> {
  const iterator = source[Symbol.asyncIterator]();
  let bytes = Buffer.alloc(0);
  while (bytes.length < headerLength) {
    const { value, done } = await iterator.next();
    if (done) break;
    bytes = Buffer.concat([bytes, value]);
  }
  const version = magic.length - 1;
  if (bytes.length < headerLength || !bytes.subarray(0, version).equals(magic.subarray(0, version))) {
    await iterator.return?.();
    throw new Fault('malformed', 'the file is not a Postern backup');
  }
  if (bytes[version] !== magic[version]) {
    await iterator.return?.();
    throw new Fault('unsupported', 'the backup was made by a newer version of Postern');
  }
  async function* rest() {
    yield bytes.subarray(headerLength);
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { header: bytes.subarray(0, headerLength), rest: rest() };
}

function derive(passphrase: string, salt: Uint8Array, cost: Cost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, 32, cost, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
