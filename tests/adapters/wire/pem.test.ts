import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { decodeBase64, encodeBase64Lines } from '#adapters/wire/base64.ts';
import { decodePem, encodePem, pemPieces } from '#adapters/wire/pem.ts';
import { Fault } from '#core/fault.ts';
import { openssl } from '#tests/fixtures/openssl.ts';
import { processorTime } from '#tests/processor-time.ts';
import { runs } from '#tests/property.ts';

const bytes = fc.uint8Array({ minLength: 1, maxLength: 400 });
const octets = Uint8Array.from({ length: 100 }, (_, i) => i);
const block = encodePem('CERTIFICATE', octets);

function faultOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof Fault) return `${error.code}: ${error.detail}`;
    throw error;
  }
  throw new Error('no Fault');
}

test.each([0, 1, 48, 48 * 1024, 100_000])(
  '%d octets encoded in parts are the same as encoded at once',
  (length) => {
    const der = new Uint8Array(length).map((_, i) => i * 7);
    for (const lineEnd of ['\n', '\r\n']) {
      const [pieces, octets] = pemPieces('X509 CRL', der, lineEnd);
      const all = [...pieces];
      expect(Math.max(...all.map((piece) => piece.length))).toBeLessThan(70_000);
      const whole = Buffer.concat(all);
      expect(whole.toString()).toBe(encodePem('X509 CRL', der, lineEnd));
      expect(octets).toBe(whole.length);
    }
  },
);

describe('base64', () => {
  test('every line has 64 characters and a line end', () => {
    const lines = encodeBase64Lines(octets).split('\n');
    expect(lines.map((line) => line.length)).toEqual([64, 64, 8, 0]);
    expect(encodeBase64Lines(new Uint8Array(48))).toBe(`${'A'.repeat(64)}\n`);
    expect(encodeBase64Lines(new Uint8Array(0))).toBe('');
  });

  test.each(['AA', 'AA=', 'AB==', 'A', '!!!!', 'AA==AA==', 'A-_=', 'AAAA\u00a0', 'AA==\0'])(
    '%j is rejected',
    (text) => {
      expect(faultOf(() => decodeBase64(text))).toBe('malformed: this is not valid base64');
    },
  );

  test('white space is ignored', () => {
    expect(decodeBase64('\r\nAQ I\tD\n')).toEqual(Uint8Array.of(1, 2, 3));
  });
});

describe('PEM', () => {
  test('a block is read as it was written', () => {
    fc.assert(
      fc.property(fc.array(bytes, { minLength: 1, maxLength: 4 }), (ders) => {
        const text = ders.map((der) => encodePem('X509 CRL', der)).join('');
        expect(decodePem(text)).toEqual(ders.map((der) => ({ label: 'X509 CRL', der })));
      }),
      runs(200),
    );
  });

  test.each([
    ['as encoded', block],
    ['with CRLF', block.replaceAll('\n', '\r\n')],
    ['with CR alone', block.replaceAll('\n', '\r')],
    ['with blanks for line ends', block.replaceAll('\n', ' ')],
    ['with text around', `subject=CN = x\n\n${block}\ntrailing\n`],
    ['with blank lines inside', block.replaceAll('\n', '\n\n')],
    ['in one line', block.replaceAll('\n', '')],
    ['with a byte order mark', `\ufeff${block}`],
  ])('is read %s', (_, text) => {
    expect(decodePem(text)).toEqual([{ label: 'CERTIFICATE', der: octets }]);
  });

  test('several blocks keep their labels and their order', () => {
    const text = `${encodePem('EC PARAMETERS', Uint8Array.of(1))}junk\n${encodePem('PRIVATE KEY', Uint8Array.of(2))}`;
    expect(decodePem(text).map(({ label }) => label)).toEqual(['EC PARAMETERS', 'PRIVATE KEY']);
  });

  test.each([
    ['', 'PEM: there is no block'],
    ['nothing here', 'PEM: there is no block'],
    ['-----BEGIN CERTIFICATE-----\nAAAA\n', 'PEM: the END line of CERTIFICATE is missing'],
    [
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END X509 CRL-----\n',
      'PEM: the END line of CERTIFICATE is missing',
    ],
    [`-----BEGIN CERTIFICATE-----\n${block}`, 'PEM: invalid base64 in CERTIFICATE'],
    ['-----BEGIN A-----\nA*AA\n-----END A-----', 'PEM: invalid base64 in A'],
    ['-----BEGIN A-----\n\n-----END A-----', 'PEM: A is empty'],
    [
      '-----BEGIN A-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END A-----',
      'PEM: header lines in A are not supported',
    ],
    ['-----BEGIN -----\nAAAA\n-----END -----', 'PEM: the label is not valid'],
    ['-----BEGIN A--B-----\nAAAA\n-----END A--B-----', 'PEM: the label is not valid'],
    ['-----BEGIN A\nB-----\nAAAA\n-----END A\nB-----', 'PEM: the label is not valid'],
    [
      `-----BEGIN ${'A'.repeat(65)}-----\nAAAA\n-----END ${'A'.repeat(65)}-----`,
      'PEM: the label is not valid',
    ],
    ['-----BEGIN CERTIFICATE', 'PEM: the label is not valid'],
    [`${block}-----BEGIN CERTIFICATE-----\n`, 'PEM: the END line of CERTIFICATE is missing'],
  ])('%j is rejected', (text, detail) => {
    expect(faultOf(() => decodePem(text))).toBe(`malformed: ${detail}`);
  });

  test('a text without an END line is rejected before it is searched', () => {
    expect(faultOf(() => decodePem('A'.repeat(16 * 1024 * 1024 + 1)))).toBe('malformed: PEM: too long');
  });

  test('many BEGIN lines take time proportional to the input', async () => {
    for (const text of [
      '-----BEGIN A-----'.repeat(200_000),
      `${'-----BEGIN '.repeat(300_000)}-----END `,
      '-'.repeat(3_000_000),
    ])
      expect(await processorTime(() => faultOf(() => decodePem(text)))).toBeLessThan(2_000);
  });

  test('arbitrary text gives blocks or a Fault', () => {
    const piece = fc.oneof(
      fc.constantFrom('-----BEGIN ', '-----END ', '-----', 'CERTIFICATE', '\n', 'AAAA', '=', ':', ' '),
      fc.string({ unit: 'binary', maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        try {
          expect(decodePem(pieces.join('')).length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
        }
      }),
      runs(500),
    );
  });

  test('OpenSSL reads an encoded block', () => {
    const key = openssl(['genpkey', '-algorithm', 'ed25519', '-outform', 'DER', '-out', 'key'], {}, [
      'key',
    ]).file('key');
    expect(openssl(['pkey', '-in', 'key', '-noout'], { key: encodePem('PRIVATE KEY', key) }).ok).toBe(true);
  });
});
