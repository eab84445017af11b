import { beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { decodeCertificationRequest } from '#adapters/wire/certification-request.ts';
import { encodePem } from '#adapters/wire/pem.ts';
import { Fault } from '#core/fault.ts';
import { verifyPkcs10 } from '#core/x509/request.ts';
import { opensslRequest } from '#tests/fixtures/enrolment.ts';
import { runs } from '#tests/property.ts';

const ascii = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

let request: Uint8Array;
beforeAll(() => {
  request = opensslRequest('DER');
});

describe('a certification request', () => {
  test.each<[string, (der: Uint8Array) => string]>([
    ['base64 in one line', (der) => der.toBase64()],
    ['base64 in lines', (der) => der.toBase64().replace(/.{64}/g, '$&\n')],
    ['base64 in lines of 76 ended by CRLF', (der) => der.toBase64().replace(/.{76}/g, '$&\r\n')],
    ['base64 with space around', (der) => `\n ${der.toBase64()}\n`],
    ['PEM', (der) => encodePem('CERTIFICATE REQUEST', der)],
    ['PEM with the old label', (der) => encodePem('NEW CERTIFICATE REQUEST', der)],
    ['PEM after text', (der) => `Certificate Request:\n${encodePem('CERTIFICATE REQUEST', der)}`],
  ])('is read as %s, from text and from octets', (_, encode) => {
    expect(decodeCertificationRequest(encode(request))).toEqual(request);
    expect(decodeCertificationRequest(bytesOf(encode(request)))).toEqual(request);
  });

  test('is read as DER', () => {
    expect(decodeCertificationRequest(request)).toEqual(request);
  });

  test.each([
    ['PEM', []],
    ['PEM', ['-newhdr']],
    ['PEM', ['-text']],
    ['DER', []],
  ] as ['PEM' | 'DER', string[]][])('is read as OpenSSL writes it: %s %s', (format, args) => {
    const written = opensslRequest(format, ...args);
    expect(verifyPkcs10(decodeCertificationRequest(written)).publicKey.type).toBe('p-256');
    if (format === 'PEM') expect(decodeCertificationRequest(ascii(written)).length).toBeGreaterThan(100);
  });

  test.each([
    ['', 'csr: the request contains no CSR'],
    ['\r\n', 'csr: the request contains no CSR'],
    ['not base64!', 'csr: this is not valid base64'],
    ['-----BEGIN CERTIFICATE REQUEST-----', 'csr: PEM: the END line of CERTIFICATE REQUEST is missing'],
    [encodePem('CERTIFICATE', Uint8Array.of(1)), 'csr: expected exactly one CERTIFICATE REQUEST'],
    [
      encodePem('CERTIFICATE REQUEST', Uint8Array.of(1)).repeat(2),
      'csr: expected exactly one CERTIFICATE REQUEST',
    ],
  ])('is rejected as %j', (text, detail) => {
    for (const input of [text, bytesOf(text)]) {
      expect(() => decodeCertificationRequest(input)).toThrow(
        expect.objectContaining({ code: 'badCsr', detail }),
      );
    }
  });

  test('of arbitrary octets is read, or rejected with Fault badCsr', () => {
    const input = fc.oneof(fc.uint8Array({ maxLength: 64 }), fc.string({ maxLength: 64 }), fc.base64String());
    fc.assert(
      fc.property(input, (any) => {
        try {
          expect(decodeCertificationRequest(any)).toBeInstanceOf(Uint8Array);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          expect((error as Fault).code).toBe('badCsr');
        }
      }),
      runs(500),
    );
  });
});
