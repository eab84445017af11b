import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { der } from '#core/der/builder.ts';
import { readDer } from '#core/der/reader.ts';
import { Fault } from '#core/fault.ts';
import { type SignatureAlgorithm, signatureAlgorithmIdentifier } from '#core/x509/algorithm.ts';
import {
  buildCrl,
  type CrlTemplate,
  findRevoked,
  parseCrl,
  type RevokedEntry,
  revokedEntries,
} from '#core/x509/crl.ts';
import { addExtensions, type Extension } from '#core/x509/extension.ts';
import { authorityKeyIdentifierExtension } from '#core/x509/extensions/identity.ts';
import { crlNumberExtension, revocationReasons } from '#core/x509/extensions/revocation.ts';
import { keyIdentifier, verifySignature } from '#core/x509/public-key.ts';
import { type TestCa, testCa } from '#tests/fixtures/certificates.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';
import { runs } from '#tests/property.ts';

const day = 86_400_000;
const thisUpdate = Date.UTC(2026, 0, 1);

const templateOf = (ca: TestCa, revoked: CrlTemplate['revoked']): CrlTemplate => ({
  signatureAlgorithm: ca.algorithm,
  issuer: ca.name,
  thisUpdate,
  nextUpdate: thisUpdate + 10_000 * day,
  number: 42n,
  authorityKeyIdentifier: keyIdentifier(ca.key.publicKey),
  revoked,
});

async function signedCrl(ca: TestCa, revoked: CrlTemplate['revoked']): Promise<Uint8Array> {
  const unsigned = await buildCrl(templateOf(ca, revoked));
  return unsigned.signed(ca.key.sign(ca.algorithm, unsigned.tbs));
}

const entries: readonly RevokedEntry[] = [
  { serial: Uint8Array.of(1), revokedAt: thisUpdate },
  {
    serial: Uint8Array.of(0, 0x80),
    revokedAt: thisUpdate,
    reason: 'keyCompromise',
    invalidityDate: thisUpdate - day,
  },
  { serial: Uint8Array.of(3, 4), revokedAt: thisUpdate, invalidityDate: thisUpdate - day },
  { serial: Uint8Array.of(5), revokedAt: thisUpdate, reason: 'certificateHold' },
];

/** What OpenSSL prints for a CRL with these entries. */
const printedHead = `\
Certificate Revocation List (CRL):
Version 2 (0x1)
Signature Algorithm: ecdsa-with-SHA256
Issuer: CN=Test CA p-256,O=Example,C=DE
Last Update: Jan  1 00:00:00 2026 GMT
Next Update: May 19 00:00:00 2053 GMT`;
const printedEntries = `\
X509v3 CRL Number:
42
Revoked Certificates:
Serial Number: 01
Revocation Date: Jan  1 00:00:00 2026 GMT
Serial Number: 80
Revocation Date: Jan  1 00:00:00 2026 GMT
CRL entry extensions:
X509v3 CRL Reason Code:
Key Compromise
Invalidity Date:
Dec 31 00:00:00 2025 GMT
Serial Number: 0304
Revocation Date: Jan  1 00:00:00 2026 GMT
CRL entry extensions:
Invalidity Date:
Dec 31 00:00:00 2025 GMT
Serial Number: 05
Revocation Date: Jan  1 00:00:00 2026 GMT
CRL entry extensions:
X509v3 CRL Reason Code:
Certificate Hold`;

async function* slowly(revoked: readonly RevokedEntry[]): AsyncGenerator<RevokedEntry> {
  for (const entry of revoked) {
    await Promise.resolve();
    yield entry;
  }
}

describe('CRLs', () => {
  test.each(['rsa-2048', 'p-256', 'p-384', 'ed25519'] as const)(
    'of a CA with %s are verified by OpenSSL',
    async (type) => {
      const ca = testCa(type);
      const crl = await signedCrl(ca, entries);
      const { text, ok } = openssl(['crl', '-in', 'crl', '-CAfile', 'ca', '-noout', '-text'], {
        crl: pem('X509 CRL', crl),
        ca: pem('CERTIFICATE', ca.certificate.der),
      });
      expect(text).toContain('verify OK');
      expect(ok).toBe(true);
      const { signatureAlgorithm, tbs, signature } = parseCrl(crl);
      expect(verifySignature(ca.key.publicKey, signatureAlgorithm!, tbs, signature)).toBe(true);
    },
  );

  test('are printed by OpenSSL with the values given', async () => {
    const { text } = openssl(['crl', '-in', 'crl', '-noout', '-text', '-nameopt', 'RFC2253'], {
      crl: pem('X509 CRL', await signedCrl(testCa('p-256'), entries)),
    });
    const lines = text.split('\n').map((line) => line.trim());
    const from = lines.indexOf('X509v3 CRL Number:');
    const to = lines.indexOf('Signature Algorithm: ecdsa-with-SHA256', from);
    expect(lines.slice(0, 6).join('\n')).toBe(printedHead);
    expect(lines.slice(from, to).join('\n')).toBe(printedEntries);
  });

  test('make OpenSSL reject a revoked certificate and accept another', async () => {
    const ca = testCa('p-256');
    const verify = async (revoked: readonly RevokedEntry[]) =>
      openssl(['verify', '-x509_strict', '-crl_check', '-CAfile', 'ca', '-CRLfile', 'crl', 'leaf'], {
        ca: pem('CERTIFICATE', ca.certificate.der),
        crl: pem('X509 CRL', await signedCrl(ca, revoked)),
        leaf: pem('CERTIFICATE', leaf.der),
      }).text;
    const leaf = ca.issue(testKey('p-256', 'device'));
    expect(await verify(entries)).toBe('leaf: OK\n');
    expect(await verify([])).toBe('leaf: OK\n');
    expect(await verify([{ serial: leaf.serial, revokedAt: thisUpdate }])).toContain('certificate revoked');
  });

  test('of a CA with ML-DSA are verified', async () => {
    const ca = testCa('ml-dsa-65');
    const { signatureAlgorithm, tbs, signature } = parseCrl(await signedCrl(ca, entries));
    expect(verifySignature(ca.key.publicKey, signatureAlgorithm!, tbs, signature)).toBe(true);
  });

  test('are the same from a list as from an asynchronous source', async () => {
    const template = templateOf(testCa('p-256'), entries);
    const { revoked, ...rest } = template;
    expect(revoked).toBe(entries);
    const { tbs } = await buildCrl(template);
    expect((await buildCrl({ ...rest, revoked: slowly(entries) })).tbs).toEqual(tbs);
  });

  test('are read as they were built', async () => {
    const ca = testCa('p-256');
    const crl = parseCrl(await signedCrl(ca, entries));
    expect(crl).toMatchObject({
      thisUpdate,
      nextUpdate: thisUpdate + 10_000 * day,
      number: 42n,
      issuer: ca.name,
    });
    expect([...revokedEntries(crl)]).toEqual([...entries]);
  });

  test('without entries have no revokedCertificates', async () => {
    const crl = parseCrl(await signedCrl(testCa('p-256'), []));
    expect(crl.revoked).toHaveLength(0);
    expect([...revokedEntries(crl)]).toEqual([]);
    expect(findRevoked(crl, Uint8Array.of(1))).toBeUndefined();
  });

  test('can be searched for the serial number of a certificate', async () => {
    const crl = parseCrl(await signedCrl(testCa('p-256'), entries));
    for (const entry of entries) expect(findRevoked(crl, entry.serial)).toEqual(entry);
    expect(findRevoked(crl, Uint8Array.of(0x80))).toBeUndefined();
    expect(findRevoked(crl, Uint8Array.of(4))).toBeUndefined();
  });

  test('omit the reason when it is unspecified (RFC 5280 §5.3.1)', async () => {
    const revoked = [{ serial: Uint8Array.of(1), revokedAt: thisUpdate, reason: 'unspecified' as const }];
    const crl = parseCrl(await signedCrl(testCa('p-256'), revoked));
    expect([...revokedEntries(crl)]).toEqual([{ serial: Uint8Array.of(1), revokedAt: thisUpdate }]);
  });

  test('of arbitrary entries are read as they were built', async () => {
    const arbitrary: fc.Arbitrary<RevokedEntry> = fc
      .record({
        serial: fc
          .uint8Array({ minLength: 1, maxLength: 20 })
          .filter((octets) => octets[0]! > 0 && octets[0]! < 0x80),
        revokedAt: fc.nat({ max: 2 ** 31 }).map((seconds) => seconds * 1000),
        reason: fc.constantFrom(undefined, ...revocationReasons.filter((reason) => reason !== 'unspecified')),
        invalidityDate: fc.option(
          fc.nat({ max: 2 ** 31 }).map((seconds) => seconds * 1000),
          { nil: undefined },
        ),
      })
      .map(({ serial, revokedAt, reason, invalidityDate }) => ({
        serial,
        revokedAt,
        ...(reason && { reason }),
        ...(invalidityDate !== undefined && { invalidityDate }),
      }));
    const template = templateOf(testCa('p-256'), []);
    await fc.assert(
      fc.asyncProperty(fc.array(arbitrary, { maxLength: 20 }), async (revoked) => {
        const unsigned = await buildCrl({ ...template, revoked });
        const crl = parseCrl(unsigned.signed(Uint8Array.of(0)));
        expect([...revokedEntries(crl)]).toEqual(revoked);
      }),
      runs(200),
    );
  });
});

/** Returns a TBSCertList with the given parts and one entry. */
function handmade(parts: {
  version?: boolean;
  nextUpdate?: boolean;
  entryExtensions?: readonly Extension[];
  extensions?: readonly Extension[];
  outer?: SignatureAlgorithm;
}): Uint8Array {
  return der((b) =>
    b.sequence((crl) =>
      crl
        .sequence((tbs) => {
          if (parts.version !== false) tbs.integer(1);
          tbs
            .raw(signatureAlgorithmIdentifier('ecdsa-sha256'))
            .raw(testCa('p-256').name.der)
            .time(thisUpdate);
          if (parts.nextUpdate !== false) tbs.time(thisUpdate + day);
          tbs.sequence((list) =>
            list.sequence((entry) => {
              entry.integer(1).time(thisUpdate);
              if (parts.entryExtensions) addExtensions(entry, parts.entryExtensions);
            }),
          );
          const { extensions } = parts;
          if (extensions) tbs.explicit(0, (e) => addExtensions(e, extensions));
        })
        .raw(signatureAlgorithmIdentifier(parts.outer ?? 'ecdsa-sha256'))
        .bitString(Uint8Array.of(0)),
    ),
  );
}

const aki = authorityKeyIdentifierExtension(Uint8Array.of(1));
const strange: Extension = { oid: '1.2.3', critical: false, value: Uint8Array.of(5, 0) };
const codeOf = (encoded: Uint8Array): string | undefined => {
  try {
    parseCrl(encoded);
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
  return undefined;
};

describe('CRLs of other CAs', () => {
  test('of version 1 and without nextUpdate are read', () => {
    const crl = parseCrl(handmade({ version: false, nextUpdate: false }));
    expect(crl).toMatchObject({ nextUpdate: undefined, number: undefined, extensions: [] });
    expect(findRevoked(crl, Uint8Array.of(1))).toEqual({ serial: Uint8Array.of(1), revokedAt: thisUpdate });
  });

  test('may have unknown extensions that are not critical', () => {
    const crl = parseCrl(
      handmade({ extensions: [aki, crlNumberExtension(1n), strange], entryExtensions: [strange] }),
    );
    expect(crl.number).toBe(1n);
    expect([...revokedEntries(crl)]).toEqual([{ serial: Uint8Array.of(1), revokedAt: thisUpdate }]);
  });

  test.each<[string, Parameters<typeof handmade>[0], string]>([
    ['a critical extension that is unknown', { extensions: [{ ...strange, critical: true }] }, 'unsupported'],
    [
      'a critical extension of an entry',
      { entryExtensions: [{ ...strange, critical: true }] },
      'unsupported',
    ],
    ['another outer algorithm', { outer: 'ed25519' }, 'malformed'],
    ['extensions in version 1', { version: false, extensions: [aki] }, 'malformed'],
    ['an extension twice', { extensions: [aki, aki] }, 'malformed'],
    [
      'an unknown reason',
      { entryExtensions: [{ oid: '2.5.29.21', critical: false, value: Uint8Array.of(10, 1, 7) }] },
      'malformed',
    ],
    [
      'a broken CRL number',
      { extensions: [{ oid: '2.5.29.20', critical: false, value: Uint8Array.of(5, 0) }] },
      'malformed',
    ],
  ])('with %s are rejected', (_, parts, code) => {
    expect(codeOf(handmade(parts))).toBe(code);
  });

  test('made by OpenSSL are read', () => {
    const ca = testCa('p-256');
    const config = `
[ca]
default_ca = x
[x]
database = index
crlnumber = number
default_md = sha256
crl_extensions = e
[e]
authorityKeyIdentifier = keyid
`;
    const index =
      'R\t300101000000Z\t260102030405Z,keyCompromise\tAB01\tunknown\t/CN=a\nR\t300101000000Z\t260102030405Z\t7F\tunknown\t/CN=b\n';
    const encoded = openssl(
      ['ca', '-gencrl', '-config', 'c', '-keyfile', 'key', '-cert', 'ca', '-crldays', '9', '-out', 'crl'],
      { c: config, index, number: '0100\n', key: ca.key.pem(), ca: pem('CERTIFICATE', ca.certificate.der) },
      ['crl'],
    ).file('crl');
    const body = Buffer.from(encoded)
      .toString('latin1')
      .replace(/-----[^-]+-----/g, '');
    const crl = parseCrl(new Uint8Array(Buffer.from(body, 'base64')));
    expect(crl.number).toBe(256n);
    expect(findRevoked(crl, Uint8Array.of(0, 0xab, 1))).toEqual({
      serial: Uint8Array.of(0, 0xab, 1),
      revokedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
      reason: 'keyCompromise',
    });
    expect(verifySignature(ca.key.publicKey, crl.signatureAlgorithm!, crl.tbs, crl.signature)).toBe(true);
  });

  test('with one change give a Fault, or a CRL whose signature is invalid', async () => {
    const ca = testCa('p-256');
    const valid = await signedCrl(ca, entries);
    fc.assert(
      fc.property(fc.nat({ max: valid.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        try {
          const crl = parseCrl(valid.with(at, valid[at]! ^ flip));
          expect([...revokedEntries(crl)].length).toBeGreaterThan(0);
          expect(findRevoked(crl, new Uint8Array(30))).toBeUndefined();
          expect(verifySignature(ca.key.publicKey, ca.algorithm, crl.tbs, crl.signature)).toBe(false);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          expect(['malformed', 'unsupported']).toContain((error as Fault).code);
        }
      }),
      runs(1500),
    );
  });

  test('arbitrary octets are malformed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
        expect(codeOf(octets)).toBe('malformed');
      }),
      runs(1000),
    );
  });

  test('with a hundred thousand entries are built, read and searched', async () => {
    const serialOf = (i: number) => Uint8Array.of(1, i >> 16, (i >> 8) & 0xff, i & 0xff);
    function* many(): Generator<RevokedEntry> {
      for (let i = 0; i < 100_000; i++) {
        yield { serial: serialOf(i), revokedAt: thisUpdate + i * 1000, reason: 'superseded' };
      }
    }
    const crl = parseCrl(await signedCrl(testCa('p-256'), many()));
    expect(findRevoked(crl, serialOf(99_999))).toEqual({
      serial: serialOf(99_999),
      revokedAt: thisUpdate + 99_999_000,
      reason: 'superseded',
    });
    expect(readDer(crl.tbs, (r) => r.element())).toHaveLength(crl.tbs.length);
  });
});
