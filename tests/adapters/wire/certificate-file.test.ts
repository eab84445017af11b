import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readCertificateFile } from '#adapters/wire/certificate-file.ts';
import { Fault } from '#core/fault.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';
import { runs } from '#tests/property.ts';

const key = testKey('p-256', 'certificate-file');
const certify = (name: string): Uint8Array =>
  openssl(
    ['req', '-x509', '-key', 'key.pem', '-subj', `/CN=${name}`, '-outform', 'DER', '-out', 'cert.der'],
    { 'key.pem': key.pem() },
    ['cert.der'],
  ).file('cert.der');
const [one, two] = [certify('one'), certify('two')];
const bundle = pem('CERTIFICATE', one) + pem('CERTIFICATE', two);
const converted = (...args: string[]): Uint8Array =>
  openssl([...args, '-out', 'out'], { 'all.pem': bundle, 'key.pem': key.pem() }, ['out']).file('out');
const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const p12 = (...options: string[]): Uint8Array =>
  converted('pkcs12', '-export', '-nokeys', '-in', 'all.pem', '-passout', 'pass:secret', ...options);

describe('a certificate file is recognized by its content:', () => {
  for (const [name, file, count] of [
    ['PEM', bytes(bundle), 2],
    ['PEM with text around it', bytes(`subject=CN = one\r\n${bundle.replaceAll('\n', '\r\n')}\nthe end`), 2],
    ['the older label', bytes(bundle.replaceAll('CERTIFICATE', 'X509 CERTIFICATE')), 2],
    ['DER', one, 1],
    ['base64 of DER', bytes(Buffer.from(one).toString('base64')), 1],
    ['PKCS #7 in PEM', converted('crl2pkcs7', '-nocrl', '-certfile', 'all.pem'), 2],
    ['PKCS #7 in DER', converted('crl2pkcs7', '-nocrl', '-certfile', 'all.pem', '-outform', 'DER'), 2],
    ['PKCS #12', p12(), 2],
    ['PKCS #12 as older tools write it', p12('-legacy'), 2],
  ] as const) {
    test(name, async () => {
      const found = await readCertificateFile(file, 'secret');
      expect(found.map((der) => Buffer.from(der))).toEqual(
        [one, two].slice(0, count).map((der) => Buffer.from(der)),
      );
    });
  }
});

describe('a certificate file is rejected if it is', () => {
  for (const [name, file, expected] of [
    ['an empty file', new Uint8Array(0), { code: 'malformed' }],
    ['text', bytes('certificate'), { code: 'malformed' }],
    [
      'a private key',
      bytes(key.pem()),
      { code: 'malformed', detail: 'expected CERTIFICATE, found PRIVATE KEY' },
    ],
    ['a certificate beside a private key', bytes(bundle + key.pem()), { code: 'malformed' }],
    ['a PNG', Uint8Array.of(0x89, 0x50, 0x4e, 0x47), { code: 'malformed' }],
    [
      'a wrong password',
      p12('-macalg', 'sha1', '-passout', 'pass:other'),
      { code: 'malformed', field: 'password' },
    ],
    [
      'PKCS #7 that carries data',
      converted('cms', '-data_create', '-in', 'all.pem', '-outform', 'DER'),
      { code: 'malformed' },
    ],
  ] as const) {
    test(name, async () => {
      const fault = await readCertificateFile(file, 'secret').catch((error) => error);
      expect(fault).toBeInstanceOf(Fault);
      expect(fault).toMatchObject(expected);
    });
  }
});

test('arbitrary octets are read as certificates or rejected with a Fault', async () => {
  const anything = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.string().map(bytes),
    fc.uint8Array({ maxLength: 60 }).map((rest) => Uint8Array.of(0x30, 0x80, ...rest)),
  );
  await fc.assert(
    fc.asyncProperty(anything, async (file) => {
      const answer = await readCertificateFile(file, '').catch((error) => error);
      expect(Array.isArray(answer) || answer instanceof Fault).toBe(true);
    }),
    runs(500),
  );
});
