import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type DerBuilder, der } from '#core/der/builder.ts';
import { readDer } from '#core/der/reader.ts';
import { tag } from '#core/der/tag.ts';
import { Fault, type FaultCode } from '#core/fault.ts';
import {
  defaultSignatureAlgorithm,
  type KeyType,
  type SignatureAlgorithm,
  signatureAlgorithmIdentifier,
} from '#core/x509/algorithm.ts';
import { addExtensions, type Extension } from '#core/x509/extension.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { formatDistinguishedName, parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { verifyPkcs10 } from '#core/x509/request.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl } from '#tests/fixtures/openssl.ts';
import { runs } from '#tests/property.ts';

type Attribute = (builder: DerBuilder) => void;

const attribute =
  (type: string, ...values: Uint8Array[]): Attribute =>
  (b) => {
    b.sequence((s) => s.oid(type).setOf(values));
  };
const requested = (...extensions: Extension[]): Uint8Array => der((b) => addExtensions(b, extensions));
const san = subjectAltNameExtension([parseGeneralName('DNS:a.example'), parseGeneralName('IP:10.0.0.1')]);
const usage = keyUsageExtension(['digitalSignature']);

interface Recipe {
  readonly key?: KeyType;
  /** The public key in the request, if it is not the signer's. */
  readonly spki?: Uint8Array;
  readonly algorithm?: SignatureAlgorithm;
  readonly version?: number;
  /** Undefined: the attributes field `[0]` is missing. */
  readonly attributes?: readonly Attribute[] | undefined;
  readonly subject?: string;
}

/** Builds a request with any of the possible errors. */
function request(recipe: Recipe = {}): Uint8Array {
  const { key = 'p-256', version = 0, subject = 'CN=device', attributes = [] } = recipe;
  const algorithm = recipe.algorithm ?? defaultSignatureAlgorithm(key);
  const info = der((b) =>
    b.sequence((s) => {
      s.integer(version).raw(parseDistinguishedName(subject).der);
      s.raw(recipe.spki ?? testKey(key).publicKey.spki);
      if ('attributes' in recipe && !recipe.attributes) return;
      s.explicit(0, (a) => {
        for (const add of attributes) add(a);
      });
    }),
  );
  const signature = testKey(key).sign(algorithm, info);
  return der((b) =>
    b.sequence((s) => s.raw(info).raw(signatureAlgorithmIdentifier(algorithm)).bitString(signature)),
  );
}

function refusal(csr: Uint8Array): Fault {
  try {
    verifyPkcs10(csr);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('not refused');
}

describe('PKCS#10 requests', () => {
  test.each<[KeyType, SignatureAlgorithm]>([
    ['rsa-2048', 'rsa-pkcs1-sha256'],
    ['rsa-2048', 'rsa-pkcs1-sha512'],
    ['rsa-3072', 'rsa-pss-sha384'],
    ['p-256', 'ecdsa-sha256'],
    ['p-384', 'ecdsa-sha384'],
    ['p-521', 'ecdsa-sha512'],
    ['p-256', 'ecdsa-sha512'],
    ['ed25519', 'ed25519'],
    ['ml-dsa-44', 'ml-dsa-44'],
    ['ml-dsa-65', 'ml-dsa-65'],
    ['ml-dsa-87', 'ml-dsa-87'],
  ])('of %s signed with %s are verified', (key, algorithm) => {
    const verified = verifyPkcs10(request({ key, algorithm, subject: 'CN=device,O=Example' }));
    expect(verified.publicKey.type).toBe(key);
    expect(verified.publicKey.spki).toEqual(testKey(key).publicKey.spki);
    expect(formatDistinguishedName(verified.subject)).toBe('CN=device,O=Example');
  });

  test('the requested fields are returned', () => {
    const password = der((b) => b.string('secret', tag.printableString));
    const csr = request({
      attributes: [
        attribute(oid.challengePassword, password),
        attribute('1.2.3.4', password),
        attribute(oid.extensionRequest, requested(usage, san)),
      ],
    });
    expect(verifyPkcs10(csr)).toMatchObject({
      extensions: [usage, san],
      subjectAltNames: [
        { kind: 'dns', value: 'a.example' },
        { kind: 'ip', value: Uint8Array.of(10, 0, 0, 1) },
      ],
      challengePassword: 'secret',
      der: csr,
    });
  });

  test.each<[string, Recipe]>([
    ['without attributes', {}],
    ['that leave the attributes out', { attributes: undefined }],
    ['with an empty subject', { subject: '' }],
  ])('%s request no extensions', (_, recipe) => {
    const { extensions, subjectAltNames, challengePassword } = verifyPkcs10(request(recipe));
    expect({ extensions, subjectAltNames, challengePassword }).toEqual({
      extensions: [],
      subjectAltNames: [],
      challengePassword: undefined,
    });
  });

  test("extensions under Microsoft's OID are read", () => {
    const csr = request({ attributes: [attribute(oid.microsoftExtensionRequest, requested(san))] });
    expect(verifyPkcs10(csr).extensions).toEqual([san]);
  });

  const extensionsTwice = [
    attribute(oid.extensionRequest, requested(san)),
    attribute(oid.extensionRequest, requested(usage)),
  ];
  test.each<[string, FaultCode, Recipe]>([
    ['signed by another key', 'badProof', { spki: testKey('p-256', 'another').publicKey.spki }],
    ['of version 2', 'badCsr', { version: 1 }],
    ['with an attribute twice', 'badCsr', { attributes: extensionsTwice }],
    [
      'with an unknown attribute twice',
      'badCsr',
      { attributes: [attribute('1.2.3', requested(san)), attribute('1.2.3')] },
    ],
    [
      'with extensions under both OIDs',
      'badCsr',
      {
        attributes: [
          attribute(oid.extensionRequest, requested(san)),
          attribute(oid.microsoftExtensionRequest, requested(san)),
        ],
      },
    ],
    [
      'with two lists of extensions',
      'badCsr',
      { attributes: [attribute(oid.extensionRequest, requested(san), requested(usage))] },
    ],
    ['with no list of extensions', 'malformed', { attributes: [attribute(oid.extensionRequest)] }],
    [
      'with an empty list of extensions',
      'malformed',
      { attributes: [attribute(oid.extensionRequest, Uint8Array.of(0x30, 0))] },
    ],
    [
      'with an extension twice',
      'malformed',
      { attributes: [attribute(oid.extensionRequest, requested(san, san))] },
    ],
    [
      'with a broken subjectAltName',
      'malformed',
      { attributes: [attribute(oid.extensionRequest, requested({ ...san, value: Uint8Array.of(0x30, 0) }))] },
    ],
    [
      'with a challenge password that is a number',
      'badCsr',
      { attributes: [attribute(oid.challengePassword, Uint8Array.of(2, 1, 1))] },
    ],
    [
      'with 65 attributes',
      'badCsr',
      { attributes: Array.from({ length: 65 }, (_, i) => attribute(`1.2.${i}`)) },
    ],
    ['signed with an algorithm of another key', 'badAlgorithm', { spki: testKey('rsa-2048').publicKey.spki }],
  ])('%s are rejected with %s: %#', (_, code, recipe) => {
    expect(refusal(request(recipe)).code).toBe(code);
  });

  test('with leading or trailing bytes are rejected', () => {
    expect(refusal(Uint8Array.of(...request(), 0)).code).toBe('malformed');
    expect(refusal(new Uint8Array()).code).toBe('malformed');
    const longer = readDer(request(), (r) =>
      der((b) => b.sequence((s) => s.raw(r.sequence().rest()).null())),
    );
    expect(refusal(longer).code).toBe('malformed');
  });
});

const config = `
[req]
distinguished_name = dn
attributes = attributes
req_extensions = extensions
prompt = no
string_mask = utf8only
[dn]
C = DE
O = Grüße GmbH
CN = device-1
[attributes]
challengePassword = s3cret
unstructuredName = x
[extensions]
subjectAltName = DNS:a.example, IP:10.0.0.1, IP:2001:db8::1, URI:urn:dev:1, email:a@b.example, otherName:1.2.3;UTF8:x, dirName:dn
keyUsage = critical, digitalSignature, keyAgreement
extendedKeyUsage = clientAuth
`;

function opensslRequest(newKey: readonly string[], ...more: string[]): Uint8Array {
  const args = [
    'req',
    '-new',
    '-utf8',
    '-config',
    'c',
    '-nodes',
    '-keyout',
    'key',
    '-outform',
    'DER',
    '-out',
    'csr',
  ];
  return openssl([...args, ...newKey, ...more], { c: config }, ['csr']).file('csr');
}

describe('requests made by OpenSSL', () => {
  test.each<[string, KeyType, readonly string[]]>([
    ['RSA', 'rsa-2048', ['-newkey', 'rsa:2048']],
    [
      'RSASSA-PSS',
      'rsa-2048',
      ['-newkey', 'rsa:2048', '-sigopt', 'rsa_padding_mode:pss', '-sigopt', 'rsa_pss_saltlen:32'],
    ],
    ['P-256', 'p-256', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']],
    ['P-384', 'p-384', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384', '-sha384']],
    ['P-521', 'p-521', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-521', '-sha512']],
    ['Ed25519', 'ed25519', ['-newkey', 'ed25519']],
  ])('with %s are verified', (_, type, newKey) => {
    const verified = verifyPkcs10(opensslRequest(newKey));
    expect(verified.publicKey.type).toBe(type);
    expect(formatDistinguishedName(verified.subject)).toBe('CN=device-1,O=Grüße GmbH,C=DE');
    expect(verified.challengePassword).toBe('s3cret');
    expect(verified.extensions.map((one) => one.oid)).toEqual([
      oid.subjectAltName,
      oid.keyUsage,
      oid.extendedKeyUsage,
    ]);
    expect(verified.subjectAltNames.map((name) => name.kind)).toEqual([
      'dns',
      'ip',
      'ip',
      'uri',
      'email',
      'otherName',
      'directory',
    ]);
  });

  test.each<[string, readonly string[], string]>([
    ['RSA of 1024 bits', ['-newkey', 'rsa:1024'], 'RSA keys must have at least 2048 bits, this one has 1024'],
    ['the exponent 3', ['-newkey', 'rsa:2048', '-pkeyopt', 'rsa_keygen_pubexp:3'], 'at least 65537'],
    ['secp256k1', ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1'], 'unknown elliptic curve'],
    [
      'explicit curve parameters',
      ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-pkeyopt', 'ec_param_enc:explicit'],
      'named',
    ],
    ['SHA-1', ['-newkey', 'rsa:2048', '-sha1'], 'SHA-1 with RSA'],
    ['Ed448', ['-newkey', 'ed448'], 'unknown type of public key 1.3.101.113'],
  ])('with %s are rejected with badAlgorithm', (_, newKey, text) => {
    const fault = refusal(opensslRequest(newKey));
    expect(fault.code).toBe('badAlgorithm');
    expect(fault.detail).toContain(text);
  });
});

describe('hostile requests', () => {
  const valid = (['p-256', 'ed25519', 'rsa-2048'] as const).map((key) =>
    request({ key, attributes: [attribute(oid.extensionRequest, requested(san, usage))] }),
  );
  const expected: readonly FaultCode[] = ['malformed', 'badCsr', 'badAlgorithm', 'badProof'];

  test('cannot be changed in any octet', () => {
    fc.assert(
      fc.property(fc.constantFrom(...valid), fc.nat(), fc.integer({ min: 1, max: 255 }), (csr, at, flip) => {
        const i = at % csr.length;
        expect(expected).toContain(refusal(csr.with(i, csr[i]! ^ flip)).code);
      }),
      runs(1500),
    );
  });

  test('cannot lose, repeat or truncate any part', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...valid),
        fc.nat(),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        (csr, at, length, twice) => {
          const from = at % csr.length;
          const part = csr.subarray(from, from + length);
          const rest = csr.subarray(twice ? from : from + length);
          const changed = Buffer.concat([csr.subarray(0, from), twice ? part : new Uint8Array(), rest]);
          expect(expected).toContain(refusal(changed).code);
        },
      ),
      runs(1000),
    );
  });

  test('arbitrary octets are malformed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
        expect(refusal(octets).code).toBe('malformed');
      }),
      runs(1000),
    );
  });
});
