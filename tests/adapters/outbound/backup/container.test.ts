import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { open, seal } from '#adapters/outbound/backup/container.ts';

// A passphrase costs scrypt's time; where that is not the point, less of it.
setDefaultTimeout(60_000);
const cheap = { N: 2, r: 1, p: 1 } as const;

const passphrase = 'correct horse battery staple';
const chunk = 64 * 1024;
const headerLength = 32;

async function* pieces(bytes: Uint8Array, length = 10_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of stream) all.push(piece);
  return Buffer.concat(all);
}

const plainOf = (length: number): Uint8Array => new Uint8Array(length).map((_, n) => n * 7 + (n >> 8));
const opened = (sealed: Uint8Array, secret = passphrase) =>
  collect(open(pieces(sealed), secret, cheap)).catch((error) => error);

describe('a sealed stream', () => {
  test('opens with the cost it was sealed with, which has a default', async () => {
    const sealed = await collect(seal(pieces(plainOf(9)), passphrase));
    expect(await collect(open(pieces(sealed), passphrase))).toEqual(Buffer.from(plainOf(9)));
    const usual = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 };
    expect(await collect(open(pieces(sealed), passphrase, usual))).toEqual(Buffer.from(plainOf(9)));
    expect(await opened(sealed)).toMatchObject({ code: 'forbidden' });
  });

  test.each([0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk + 5])('of %d octets opens', async (length) => {
    const plain = plainOf(length);
    const sealed = await collect(seal(pieces(plain), passphrase, cheap));
    expect(sealed.length).toBe(headerLength + length + 16 * Math.max(1, Math.ceil(length / chunk)));
    expect(await opened(sealed)).toEqual(Buffer.from(plain));
  });

  test('opens from pieces of any size', async () => {
    const sealed = await collect(seal(pieces(plainOf(2000), 1), passphrase, cheap));
    expect(await collect(open(pieces(sealed, 1), passphrase, cheap))).toEqual(Buffer.from(plainOf(2000)));
  });

  test('is different each time', async () => {
    const [a, b] = [
      await collect(seal(pieces(plainOf(9)), passphrase, cheap)),
      await collect(seal(pieces(plainOf(9)), passphrase, cheap)),
    ];
    expect(a.subarray(headerLength)).not.toEqual(b.subarray(headerLength));
  });
});

describe('a sealed stream is rejected', () => {
  const plain = plainOf(2 * chunk + 100);
  const sealed = collect(seal(pieces(plain), passphrase, cheap));
  const sealedChunk = chunk + 16;
  const without = (bytes: Buffer, from: number, to: number) =>
    Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);

  const damages: [what: string, change: (bytes: Buffer) => Buffer, code: string][] = [
    ['with a bit changed in its salt', (b) => flip(b, 20), 'forbidden'],
    ['with a bit changed in its first chunk', (b) => flip(b, headerLength + 5), 'forbidden'],
    ['with a bit changed in a later chunk', (b) => flip(b, headerLength + sealedChunk + 5), 'malformed'],
    ['with a bit changed in its last tag', (b) => flip(b, b.length - 1), 'malformed'],
    ['without its last octet', (b) => b.subarray(0, -1), 'malformed'],
    ['without its last chunk', (b) => b.subarray(0, headerLength + 2 * sealedChunk), 'malformed'],
    ['without any chunk', (b) => b.subarray(0, headerLength), 'malformed'],
    [
      'without one in the middle',
      (b) => without(b, headerLength + sealedChunk, headerLength + 2 * sealedChunk),
      'malformed',
    ],
    ['with something behind its end', (b) => Buffer.concat([b, Buffer.alloc(40)]), 'malformed'],
    ['that is cut off in its header', (b) => b.subarray(0, 20), 'malformed'],
    ['that is none', () => Buffer.from('-----BEGIN CERTIFICATE-----'.repeat(9)), 'malformed'],
    ['of a later version', (b) => flip(b, 15), 'unsupported'],
  ];
  test.each(damages)('%s', async (_, change, code) => {
    expect(await opened(change(Buffer.from(await sealed)))).toMatchObject({ code });
  });

  test('with another passphrase', async () => {
    expect(await opened(await sealed, `${passphrase} `)).toMatchObject({ code: 'forbidden' });
  });
});

function flip(bytes: Buffer, at: number): Buffer {
  bytes[at]! ^= 4;
  return bytes;
}
