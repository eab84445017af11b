import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type DerBuilder, der } from '#core/der/builder.ts';
import { DerReader, readDer } from '#core/der/reader.ts';
import { context, contextConstructed, tag } from '#core/der/tag.ts';
import { Fault, type FaultCode } from '#core/fault.ts';
import {
  defaultSignatureAlgorithm,
  type KeyType,
  signatureAlgorithmIdentifier,
} from '#core/x509/algorithm.ts';
import { parseCertReqMsg } from '#core/x509/crmf.ts';
import { addExtension } from '#core/x509/extension.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { formatDistinguishedName, parseDistinguishedName } from '#core/x509/name.ts';
import { verifyCertReqMsg } from '#core/x509/request.ts';
import { testCa } from '#tests/fixtures/certificates.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';
import { runs } from '#tests/property.ts';

const san = subjectAltNameExtension([parseGeneralName('DNS:a.example')]);
const device = { raVerified: false };
const registrationAuthority = { raVerified: true };

interface Recipe {
  readonly key?: KeyType;
  /** Undefined: no public key. */
  readonly spki?: Uint8Array | undefined;
  /** Undefined: the proof is a signature by the key. */
  readonly proof?: (builder: DerBuilder) => void;
}

const noProof = (): void => {};
const contentsOf = (encoded: Uint8Array): Uint8Array => readDer(encoded, (r) => r.contents(tag.sequence));

/** A request with every field of a template and a control. */
function message(recipe: Recipe = {}): Uint8Array {
  const { key = 'p-256' } = recipe;
  const spki = 'spki' in recipe ? recipe.spki : testKey(key).publicKey.spki;
  const algorithm = defaultSignatureAlgorithm(key);
  const name = parseDistinguishedName('CN=device').der;
  const request = der((b) =>
    b.sequence((s) => {
      s.integer(7).sequence((template) => {
        template.integer(2, context(0)).integer(5, context(1));
        template.explicit(2, contentsOf(signatureAlgorithmIdentifier(algorithm))).explicit(3, name);
        template.explicit(4, (validity) => validity.explicit(0, (t) => t.time(0))).explicit(5, name);
        if (spki) template.explicit(6, contentsOf(spki));
        template.bitString(Uint8Array.of(1), 0, context(7)).bitString(Uint8Array.of(1), 0, context(8));
        template.explicit(9, (extensions) => addExtension(extensions, san));
      });
      s.sequence((controls) => controls.sequence((c) => c.oid('1.3.6.1.5.5.7.5.1.1').string('token')));
    }),
  );
  const signed = (b: DerBuilder): void => {
    b.explicit(1, (popo) =>
      popo.raw(signatureAlgorithmIdentifier(algorithm)).bitString(testKey(key).sign(algorithm, request)),
    );
  };
  return der((b) =>
    b.sequence((s) => {
      s.raw(request);
      (recipe.proof ?? signed)(s);
      s.sequence((regInfo) => regInfo.sequence((info) => info.oid('1.2.3').null()));
    }),
  );
}

function refusal(encoded: Uint8Array, options = device): FaultCode {
  try {
    verifyCertReqMsg(encoded, options);
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
  throw new Error('not refused');
}

const raVerified = (b: DerBuilder): void => void b.add(context(0), new Uint8Array());
const encryption = (b: DerBuilder): void => void b.explicit(2, (p) => p.integer(0, context(1)));

describe('CRMF requests', () => {
  test.each<[KeyType]>([['rsa-2048'], ['p-256'], ['ed25519'], ['ml-dsa-65']])('of %s are verified', (key) => {
    const encoded = message({ key });
    expect(verifyCertReqMsg(encoded, device)).toMatchObject({
      extensions: [san],
      subjectAltNames: [{ kind: 'dns', value: 'a.example' }],
      challengePassword: undefined,
      der: encoded,
      publicKey: { type: key, spki: testKey(key).publicKey.spki },
      subject: parseDistinguishedName('CN=device'),
    });
  });

  test('contain the other fields', () => {
    const { certReqId, template, controls, proof } = parseCertReqMsg(message());
    expect(certReqId).toBe(7);
    expect(template.serial).toEqual(Uint8Array.of(5));
    expect(template.issuer && formatDistinguishedName(template.issuer)).toBe('CN=device');
    expect(controls).toEqual([{ type: '1.3.6.1.5.5.7.5.1.1', value: der((b) => b.string('token')) }]);
    expect(proof.kind).toBe('signature');
  });

  test('with an empty template are read', () => {
    const empty = der((b) => b.sequence((s) => s.sequence((r) => r.integer(0).sequence(noProof))));
    expect(parseCertReqMsg(empty)).toMatchObject({
      template: { serial: undefined, issuer: undefined, subject: undefined, spki: undefined, extensions: [] },
      controls: [],
      proof: { kind: 'none' },
    });
    expect(refusal(empty)).toBe('badCsr');
  });

  test('with raVerified are accepted from an RA only', () => {
    const encoded = message({ proof: raVerified });
    expect(refusal(encoded)).toBe('badProof');
    expect(verifyCertReqMsg(encoded, registrationAuthority).publicKey.type).toBe('p-256');
  });

  test.each<[string, FaultCode, Recipe]>([
    ['without a proof', 'badProof', { proof: noProof }],
    ['with a proof by encryption', 'badProof', { proof: encryption }],
    [
      'with a proof by key agreement',
      'badProof',
      { proof: (b) => void b.explicit(3, (p) => p.integer(0, context(1))) },
    ],
    ['signed by another key', 'badProof', { spki: testKey('p-256', 'another').publicKey.spki }],
    ['for a key of another kind', 'badAlgorithm', { spki: testKey('ed25519').publicKey.spki }],
    ['without a public key', 'badCsr', { spki: undefined }],
    [
      'with raVerified that is not NULL',
      'malformed',
      { proof: (b) => void b.add(context(0), Uint8Array.of(0)) },
    ],
    ['with a signature over something else (poposkInput)', 'badProof', { proof: withInput }],
  ])('%s are rejected, also from an RA', (_, code, recipe) => {
    expect(refusal(message(recipe))).toBe(code);
    expect(refusal(message(recipe), registrationAuthority)).toBe(code);
  });

  test('with 33 controls are rejected', () => {
    const controls = (count: number) =>
      der((b) =>
        b.sequence((s) =>
          s.sequence((r) => {
            r.integer(0).sequence(noProof);
            r.sequence((list) => {
              for (let i = 0; i < count; i++) list.sequence((c) => c.oid('1.2.3').null());
            });
          }),
        ),
      );
    expect(parseCertReqMsg(controls(32)).controls).toHaveLength(32);
    expect(() => parseCertReqMsg(controls(33))).toThrow(Fault);
  });

  test('cannot be changed in a signed octet, and give a Fault for every other change', () => {
    const valid = message();
    const signedFrom = valid.length - readDer(valid, (r) => r.sequence()).rest().length;
    const signedTo = signedFrom + parseCertReqMsg(valid).signed.length;
    fc.assert(
      fc.property(fc.nat({ max: valid.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        try {
          verifyCertReqMsg(valid.with(at, valid[at]! ^ flip), device);
          // Only regInfo may change: it is neither signed nor used.
          expect(at).toBeGreaterThan(signedTo);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          expect(['malformed', 'badCsr', 'badAlgorithm', 'badProof']).toContain((error as Fault).code);
        }
      }),
      runs(1500),
    );
  });

  test('arbitrary octets are malformed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (octets) => {
        expect(refusal(octets)).toBe('malformed');
      }),
      runs(1000),
    );
  });
});

function withInput(b: DerBuilder): void {
  b.explicit(1, (popo) =>
    popo
      .explicit(0, (input) => input.null())
      .raw(signatureAlgorithmIdentifier('ecdsa-sha256'))
      .bitString(Uint8Array.of(0)),
  );
}

describe('CRMF requests made by OpenSSL', () => {
  /** Returns the CertReqMsg of an ir that `openssl cmp` sends to its mock server. */
  function initializationRequest(popo: string): Uint8Array {
    const { key, certificate } = testCa('p-256');
    const ir = openssl(
      [
        ...[
          'cmp',
          '-config',
          '',
          '-cmd',
          'ir',
          '-newkey',
          'key',
          '-subject',
          '/CN=device',
          '-sans',
          'a.example',
        ],
        ...[
          '-popo',
          popo,
          '-secret',
          'pass:x',
          '-ref',
          '1',
          '-recipient',
          '/CN=ca',
          '-reqout',
          'ir',
          '-certout',
          'out',
        ],
        ...['-use_mock_srv', '-srv_secret', 'pass:x', '-srv_ref', '1', '-rsp_cert', 'cert'],
      ],
      { key: key.pem(), cert: pem('CERTIFICATE', certificate.der) },
      ['ir'],
    ).file('ir');
    // -reqout holds the ir followed by the certConf.
    const pkiMessage = new DerReader(ir).sequence();
    pkiMessage.element(tag.sequence);
    return pkiMessage.read(contextConstructed(0)).sequence().element();
  }

  test('are verified', () => {
    const verified = verifyCertReqMsg(initializationRequest('1'), device);
    expect(formatDistinguishedName(verified.subject)).toBe('CN=device');
    expect(verified.subjectAltNames).toEqual([{ kind: 'dns', value: 'a.example' }]);
    expect(verified.publicKey.spki).toEqual(testCa('p-256').key.publicKey.spki);
  });

  test('with raVerified are accepted from an RA', () => {
    const encoded = initializationRequest('0');
    expect(refusal(encoded)).toBe('badProof');
    expect(verifyCertReqMsg(encoded, registrationAuthority).publicKey.type).toBe('p-256');
  });

  test('without a proof are rejected', () => {
    expect(refusal(initializationRequest('-1'))).toBe('badProof');
  });
});
