import { describe, expect, test } from 'bun:test';
import * as asn1js from 'asn1js';
import { AlgorithmIdentifier, RSASSAPSSParams } from 'pkijs';
import { type DerBuilder, der } from '#core/der/builder.ts';
import { readDer } from '#core/der/reader.ts';
import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import {
  defaultSignatureAlgorithm,
  type KeyType,
  knownSignatureAlgorithm,
  readSignatureAlgorithm,
  signatureAlgorithmFits,
  signatureAlgorithmIdentifier,
  signatureAlgorithms,
} from '#core/x509/algorithm.ts';
import { oid } from '#core/x509/oids.ts';
import { withSomethingAdded } from '#tests/fixtures/added-element.ts';

const identifier = (which: string, parameters?: Uint8Array): Uint8Array =>
  der((b) =>
    b.sequence((s) => {
      s.oid(which);
      if (parameters) s.raw(parameters);
    }),
  );
const nullElement = Uint8Array.of(5, 0);
const refusal = (encoded: Uint8Array): Fault => {
  try {
    readDer(encoded, readSignatureAlgorithm);
  } catch (error) {
    if (error instanceof Fault) return error;
  }
  throw new Error('not refused');
};

interface Pss {
  hash?: string;
  mask?: string;
  maskHash?: string;
  salt?: number;
  nulls?: boolean;
}

function pss({
  hash = oid.sha256,
  mask = oid.mgf1,
  maskHash = hash,
  salt = 32,
  nulls = true,
}: Pss): Uint8Array {
  const hashIdentifier = (which: string) => identifier(which, nulls ? nullElement : undefined);
  return identifier(
    oid.rsaPss,
    der((b) =>
      b.sequence((s) =>
        s
          .explicit(0, hashIdentifier(hash))
          .explicit(1, identifier(mask, hashIdentifier(maskHash)))
          .explicit(2, (n) => n.integer(salt)),
      ),
    ),
  );
}

describe('signature algorithms', () => {
  test.each(signatureAlgorithms)('%s is read from its AlgorithmIdentifier', (algorithm) => {
    expect(readDer(signatureAlgorithmIdentifier(algorithm), readSignatureAlgorithm)).toBe(algorithm);
    expect(knownSignatureAlgorithm(signatureAlgorithmIdentifier(algorithm))).toBe(algorithm);
  });

  test('pkijs reads the parameters of RSASSA-PSS', () => {
    const { result } = asn1js.fromBER(signatureAlgorithmIdentifier('rsa-pss-sha384'));
    const { algorithmId, algorithmParams } = new AlgorithmIdentifier({ schema: result });
    const parameters = new RSASSAPSSParams({ schema: algorithmParams });
    expect(algorithmId).toBe(oid.rsaPss);
    expect(parameters.hashAlgorithm.algorithmId).toBe(oid.sha384);
    expect(parameters.maskGenAlgorithm.algorithmId).toBe(oid.mgf1);
    expect(parameters.saltLength).toBe(48);
  });

  test.each([
    ['PKCS #1 without NULL (RFC 4055 §5)', identifier(oid.sha256WithRsa), 'rsa-pkcs1-sha256'],
    ['PSS whose hashes are without NULL (RFC 4055 §2.1)', pss({ nulls: false }), 'rsa-pss-sha256'],
  ])('%s is read', (_, encoded, algorithm) => {
    expect(readDer(encoded, readSignatureAlgorithm)).toBe(algorithm as 'rsa-pkcs1-sha256');
  });

  test.each([
    ['SHA-1 with RSA', identifier('1.2.840.113549.1.1.5', nullElement), 'SHA-1 with RSA'],
    ['MD5 with RSA', identifier('1.2.840.113549.1.1.4', nullElement), 'MD5 with RSA'],
    ['ECDSA with SHA-1', identifier('1.2.840.10045.4.1'), 'ECDSA with SHA-1'],
    ['an unknown one', identifier('1.2.3.4'), 'unknown signature algorithm 1.2.3.4'],
    ['ECDSA with parameters', identifier(oid.ecdsaWithSha256, nullElement), 'wrong parameters'],
    ['Ed25519 with parameters', identifier(oid.ed25519, nullElement), 'wrong parameters'],
    ['ML-DSA with parameters', identifier(oid.mlDsa65, nullElement), 'wrong parameters'],
    ['PKCS #1 with parameters', identifier(oid.sha256WithRsa, Uint8Array.of(4, 0)), 'wrong parameters'],
    ['PSS with defaults, which are SHA-1', identifier(oid.rsaPss, Uint8Array.of(0x30, 0)), 'SHA-1'],
    ['PSS with SHA-1', pss({ hash: '1.3.14.3.2.26', salt: 20 }), 'weak hash'],
    ['PSS with two hashes', pss({ maskHash: oid.sha512 }), 'MGF1'],
    ['PSS with another mask', pss({ mask: '1.2.3.4' }), 'MGF1'],
    ['PSS with a short salt', pss({ salt: 20 }), 'salt'],
  ])('%s is rejected with badAlgorithm', (_, encoded, text) => {
    const fault = refusal(encoded);
    expect(fault.code).toBe('badAlgorithm');
    expect(fault.detail).toContain(text);
    expect(knownSignatureAlgorithm(encoded)).toBeUndefined();
  });

  test.each([
    ['PSS without parameters', identifier(oid.rsaPss)],
    ['two parameters of PSS', identifier(oid.rsaPss, Uint8Array.of(0x30, 0, 5, 0))],
    ['no OID', Uint8Array.of(0x30, 0)],
    ['no sequence', Uint8Array.of(tag.null, 0)],
  ])('%s is malformed', (_, encoded) => {
    expect(refusal(encoded).code).toBe('malformed');
  });

  test.each([
    ['hash', 0],
    ['mask generation function', 1],
    ['salt length', 2],
  ])('PSS without its %s, which is then SHA-1, is rejected', (_which, absent) => {
    const all = [
      (b: DerBuilder) => b.explicit(0, identifier(oid.sha256)),
      (b: DerBuilder) => b.explicit(1, identifier(oid.mgf1, identifier(oid.sha256))),
      (b: DerBuilder) => b.explicit(2, (n) => n.integer(32)),
    ];
    const parameters = (members: typeof all) =>
      identifier(
        oid.rsaPss,
        der((b) => b.sequence((s) => members.forEach((add) => void add(s)))),
      );
    expect(readDer(parameters(all), readSignatureAlgorithm)).toBe('rsa-pss-sha256');
    expect(refusal(parameters(all.filter((_, n) => n !== absent))).code).toBe('badAlgorithm');
  });

  test.each(signatureAlgorithms)('%s with something appended anywhere is rejected', (algorithm) => {
    for (const one of withSomethingAdded(signatureAlgorithmIdentifier(algorithm)))
      expect(['malformed', 'badAlgorithm']).toContain(refusal(one).code);
  });

  test.each<[KeyType, string]>([
    ['rsa-2048', 'rsa-pkcs1-sha256'],
    ['rsa-4096', 'rsa-pkcs1-sha256'],
    ['rsa-8192', 'rsa-pkcs1-sha512'],
    ['p-256', 'ecdsa-sha256'],
    ['p-384', 'ecdsa-sha384'],
    ['p-521', 'ecdsa-sha512'],
    ['ed25519', 'ed25519'],
    ['ml-dsa-44', 'ml-dsa-44'],
    ['ml-dsa-65', 'ml-dsa-65'],
    ['ml-dsa-87', 'ml-dsa-87'],
  ])('a key of %s signs with %s by default', (key, algorithm) => {
    expect(defaultSignatureAlgorithm(key)).toBe(algorithm as 'ed25519');
    expect(signatureAlgorithmFits(defaultSignatureAlgorithm(key), key)).toBe(true);
  });

  test('an algorithm fits only the keys of its type', () => {
    const fitting = (key: KeyType) => signatureAlgorithms.filter((a) => signatureAlgorithmFits(a, key));
    expect(fitting('rsa-3072')).toEqual(signatureAlgorithms.filter((a) => a.startsWith('rsa-')));
    expect(fitting('p-256')).toEqual(['ecdsa-sha256', 'ecdsa-sha384', 'ecdsa-sha512']);
    expect(fitting('ml-dsa-44')).toEqual(['ml-dsa-44']);
    expect(fitting('ed25519')).toEqual(['ed25519']);
  });
});
