import { describe, expect, test } from 'bun:test';
import { createPrivateKey } from 'node:crypto';
import fc from 'fast-check';
import { readPkcs12, writePkcs12 } from '#adapters/wire/pkcs12.ts';
import { der } from '#core/der/builder.ts';
import { Fault } from '#core/fault.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';
import { processorTime } from '#tests/processor-time.ts';
import { runs } from '#tests/property.ts';

const password = 'pässwörd 1';
const key = testKey('p-256', 'pkcs12');
const files = { 'key.pem': key.pem() };
const made = openssl(
  [
    'req',
    '-x509',
    '-key',
    'key.pem',
    '-subj',
    '/CN=pkcs12',
    '-days',
    '9',
    '-outform',
    'DER',
    '-out',
    'cert.der',
  ],
  files,
  ['cert.der'],
);
const certificate = made.file('cert.der');
const pkcs8 = new Uint8Array(key.privateKey.export({ format: 'der', type: 'pkcs8' }));

/** A file that OpenSSL wrote. */
function exported(options: readonly string[], secret = password): Uint8Array {
  const all = { ...files, 'cert.pem': pem('CERTIFICATE', certificate), pass: `${secret}\n` };
  const args = ['pkcs12', '-export', '-inkey', 'key.pem', '-in', 'cert.pem', '-out', 'out.p12'];
  return openssl([...args, '-passout', 'file:pass', ...options], all, ['out.p12']).file('out.p12');
}

const faultOf = async (action: () => Promise<unknown>): Promise<Fault | undefined> => {
  try {
    await action();
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
};

describe('a PKCS #12 file from OpenSSL', () => {
  for (const [name, options] of [
    ['AES-256 and PBKDF2', []],
    ['AES-128', ['-certpbe', 'AES-128-CBC', '-keypbe', 'AES-128-CBC']],
    ['AES-192', ['-certpbe', 'AES-192-CBC', '-keypbe', 'AES-192-CBC']],
    ['triple DES', ['-certpbe', 'PBE-SHA1-3DES', '-keypbe', 'PBE-SHA1-3DES']],
    ['RC2 with 40 bits', ['-legacy', '-certpbe', 'PBE-SHA1-RC2-40', '-keypbe', 'PBE-SHA1-3DES']],
    ['RC2 with 128 bits', ['-legacy', '-certpbe', 'PBE-SHA1-RC2-128', '-keypbe', 'PBE-SHA1-RC2-128']],
    ['no encryption', ['-certpbe', 'NONE', '-keypbe', 'NONE']],
    ['a MAC with SHA-1', ['-macalg', 'sha1']],
    ['a MAC with SHA-384', ['-macalg', 'sha384']],
    ['a MAC with SHA-512', ['-macalg', 'sha512']],
    ['no MAC', ['-nomac']],
    ['100,000 iterations', ['-iter', '100000']],
  ] as const) {
    test(`is read with ${name}`, async () => {
      const contents = await readPkcs12(exported(options), password);
      expect(contents.certificates.map((one) => Buffer.from(one))).toEqual([Buffer.from(certificate)]);
      expect(contents.privateKeys).toHaveLength(1);
      const read = createPrivateKey({
        key: Buffer.from(contents.privateKeys[0]!),
        format: 'der',
        type: 'pkcs8',
      });
      expect(read.export({ format: 'der', type: 'pkcs8' })).toEqual(Buffer.from(pkcs8));
    });
  }

  test('is read with an empty password', async () => {
    expect((await readPkcs12(exported([], ''), '')).certificates).toHaveLength(1);
  });

  for (const [name, options] of [
    ['with a MAC', []],
    ['without one', ['-nomac']],
  ] as const) {
    test(`is rejected for a wrong password with ${name}`, async () => {
      const fault = await faultOf(() => readPkcs12(exported(options), 'wrong'));
      expect(fault).toMatchObject({ code: 'malformed', field: 'password' });
    });
  }

  test('is rejected before ten million iterations of its password hash', async () => {
    const info = der((b) =>
      b.sequence((s) =>
        s.oid('1.2.840.113549.1.7.1').explicit(0, (c) => c.octetString(der((d) => d.sequence(() => {})))),
      ),
    );
    const file = der((b) =>
      b.sequence((pfx) => {
        pfx.integer(3).raw(info);
        pfx.sequence((mac) => {
          mac.sequence((digest) =>
            digest.sequence((a) => a.oid('2.16.840.1.101.3.4.2.1').null()).octetString(new Uint8Array(32)),
          );
          mac.octetString(new Uint8Array(8)).integer(10_000_000);
        });
      }),
    );
    const cost = await processorTime(async () =>
      expect(await faultOf(() => readPkcs12(file, password))).toMatchObject({ code: 'unsupported' }),
    );
    expect(cost).toBeLessThan(1000);
  });
});

test('a PKCS #12 file in BER with indefinite lengths and segmented strings is read like DER', async () => {
  const file = exported([]);
  expect((await readPkcs12(indefinite(file), password)).certificates).toEqual(
    (await readPkcs12(file, password)).certificates,
  );
});

/** Rewrites DER: SEQUENCE and `[0]` get an indefinite length, OCTET STRING two segments. */
function indefinite(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const identifier = bytes[at]!;
    let length = bytes[at + 1]!;
    let from = at + 2;
    if (length > 0x80) {
      const octets = length & 0x7f;
      length = Number.parseInt(Buffer.from(bytes.subarray(from, from + octets)).toString('hex'), 16);
      from += octets;
    }
    const contents = bytes.subarray(from, from + length);
    if (identifier === 0x04 && length > 1) {
      const half = length >> 1;
      const pieces = der((b) =>
        b.octetString(contents.subarray(0, half)).octetString(contents.subarray(half)),
      );
      parts.push(Uint8Array.of(0x24, 0x80), pieces, Uint8Array.of(0, 0));
    } else if (identifier & 0x20) {
      parts.push(Uint8Array.of(identifier, 0x80), indefinite(contents), Uint8Array.of(0, 0));
    } else parts.push(bytes.subarray(at, from + length));
    at = from + length;
  }
  return Buffer.concat(parts);
}

describe('a PKCS #12 file from Postern', () => {
  test('is read by OpenSSL, with key, certificate and chain', async () => {
    const input = { privateKey: pkcs8, certificate, chain: [certificate], name: 'pump 7 ü' };
    const file = await writePkcs12(input, password);
    const read = openssl(['pkcs12', '-in', 'in.p12', '-nodes', '-passin', 'file:pass'], {
      'in.p12': file,
      pass: `${password}\n`,
    });
    expect(read.text).toContain('friendlyName');
    expect(read.text.split('BEGIN CERTIFICATE')).toHaveLength(3);
    expect(read.text).toContain('BEGIN PRIVATE KEY');
    const info = openssl(['pkcs12', '-in', 'in.p12', '-info', '-noout', '-passin', 'file:pass'], {
      'in.p12': file,
      pass: `${password}\n`,
    });
    expect(info.text).toContain('AES-256-CBC');
  });

  test('is read by Postern', async () => {
    const input = { privateKey: pkcs8, certificate, chain: [certificate], name: '' };
    const contents = await readPkcs12(await writePkcs12(input, ''), '');
    expect(contents).toEqual({
      privateKeys: [Buffer.from(pkcs8)],
      certificates: [Buffer.from(certificate), Buffer.from(certificate)],
    });
  });
});

test('arbitrary octets are read as PKCS #12 or rejected with a Fault', async () => {
  const file = exported(['-iter', '1']);
  const damage = fc.record({ at: fc.nat(file.length - 1), to: fc.nat(255), cut: fc.nat(file.length) });
  await fc.assert(
    fc.asyncProperty(damage, async ({ at, to, cut }) => {
      const damaged = Uint8Array.from(file);
      damaged[at] = to;
      await faultOf(() => readPkcs12(damaged, password));
      await faultOf(() => readPkcs12(damaged.subarray(0, cut), password));
    }),
    runs(200),
  );
});
