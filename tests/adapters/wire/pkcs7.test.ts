import { beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { decodePem, encodePem } from '#adapters/wire/pem.ts';
import { buildCertsOnly, readCertificates } from '#adapters/wire/pkcs7.ts';
import { der } from '#core/der/builder.ts';
import { Fault } from '#core/fault.ts';
import { opensslCertificate } from '#tests/fixtures/enrolment.ts';
import { openssl } from '#tests/fixtures/openssl.ts';
import { runs } from '#tests/property.ts';

let certificates: Uint8Array[];
beforeAll(() => {
  certificates = ['issuing', 'intermediate', 'root'].map(opensslCertificate);
});

describe('certs-only SignedData', () => {
  test('has its certificates printed in order by OpenSSL', () => {
    const { ok, text } = openssl(['pkcs7', '-inform', 'DER', '-in', 'p7', '-print_certs'], {
      p7: buildCertsOnly(certificates),
    });
    expect(ok).toBe(true);
    expect(decodePem(text)).toEqual(
      certificates.map((certificate) => ({ label: 'CERTIFICATE', der: certificate })),
    );
  });

  test('is the same when OpenSSL writes it again', () => {
    const p7 = buildCertsOnly(certificates);
    const again = openssl(
      ['pkcs7', '-inform', 'DER', '-in', 'p7', '-outform', 'DER', '-out', 'out'],
      { p7 },
      ['out'],
    );
    expect(again.file('out')).toEqual(p7);
  });

  test.each([0, 1, 3])('with %d certificates is read as it was written', (count) => {
    const some = certificates.slice(0, count);
    expect(readCertificates(buildCertsOnly(some))).toEqual(some);
  });
});

describe('the SignedData reader', () => {
  test('reads certs-only data from OpenSSL', () => {
    const pem = certificates.map((certificate) => encodePem('CERTIFICATE', certificate)).join('');
    const args = ['crl2pkcs7', '-nocrl', '-certfile', 'pem', '-outform', 'DER', '-out', 'p7'];
    expect(readCertificates(openssl(args, { pem }, ['p7']).file('p7'))).toEqual(certificates);
  });

  test.each([
    ['pkcs7', ['smime', '-sign']],
    ['cms', ['cms', '-sign', '-keyid']],
  ])('reads data that is signed and has content (%s)', (_, command) => {
    const made = openssl(
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-subj',
        '/CN=signer',
        '-keyout',
        'key',
        '-out',
        'pem',
      ],
      {},
      ['key', 'pem'],
    );
    const files = { key: made.file('key'), pem: made.file('pem'), text: 'text' };
    const args = [
      ...command,
      '-signer',
      'pem',
      '-inkey',
      'key',
      '-in',
      'text',
      '-nodetach',
      '-outform',
      'DER',
    ];
    const p7 = openssl([...args, '-out', 'p7'], files, ['p7']).file('p7');
    const signer = decodePem(new TextDecoder().decode(files.pem))[0]!.der;
    expect(readCertificates(p7)).toEqual([signer]);
  });

  test('ignores attribute certificates and CRLs', () => {
    const [certificate] = certificates as [Uint8Array];
    const p7 = signedData((b) =>
      b
        .add(0xa0, (set) => {
          set.add(0xa2, Uint8Array.of(5, 0)).raw(certificate).add(0xa3, Uint8Array.of(5, 0));
        })
        .add(0xa1, (crls) => {
          crls.null();
        }),
    );
    expect(readCertificates(p7)).toEqual([certificate]);
  });

  test('rejects BER with indefinite length and names the fix', () => {
    const caught = fault(() => readCertificates(Uint8Array.of(0x30, 0x80, 6, 1, 0, 0, 0)));
    expect(caught.detail).toBe('PKCS #7: BER with indefinite lengths is not supported');
    expect(caught.hint).toBe('convert it to DER or PEM');
  });

  test.each([
    ['data in place of SignedData', der((b) => b.sequence((c) => c.oid('1.2.840.113549.1.7.1')))],
    ['nothing', new Uint8Array(0)],
    ['something else in the set', signedData((b) => b.add(0xa0, (set) => void set.null()))],
    ['a primitive choice in the set', signedData((b) => b.add(0xa0, Uint8Array.of(0x81, 0)))],
    ['octets that follow', Uint8Array.of(...signedData((b) => b), 0)],
  ])('rejects %s', (_, bytes) => {
    expect(fault(() => readCertificates(bytes)).code).toBe('malformed');
  });

  test('rejects more certificates than the limit', () => {
    const p7 = signedData((b) =>
      b.add(
        0xa0,
        new Uint8Array(20_004).map((_, i) => (i % 2 ? 0 : 0x30)),
      ),
    );
    expect(fault(() => readCertificates(p7)).detail).toBe('PKCS #7: too many certificates');
  });

  test('gives certificates or a Fault for any octets', () => {
    const valid = buildCertsOnly(certificates);
    const changed = fc
      .tuple(fc.nat(valid.length - 1), fc.nat(255))
      .map(([at, octet]) => valid.with(at, octet));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 64 }), changed), (bytes) => {
        try {
          expect(readCertificates(bytes).length).toBeLessThan(10_000);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
        }
      }),
      runs(500),
    );
  });
});

/** Returns a SignedData with the fields that `middle` adds between content and signers. */
function signedData(middle: (b: Parameters<Parameters<typeof der>[0]>[0]) => unknown): Uint8Array {
  return der((b) =>
    b.sequence((info) => {
      info.oid('1.2.840.113549.1.7.2').explicit(0, (content) => {
        content.sequence((body) => {
          body
            .integer(1)
            .set(() => {})
            .sequence((c) => void c.oid('1.2.840.113549.1.7.1'));
          middle(body);
          body.set(() => {});
        });
      });
    }),
  );
}

function fault(read: () => unknown): Fault {
  try {
    read();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('no Fault');
}
