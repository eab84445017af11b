import { describe, expect, test } from 'bun:test';
import { X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { Fault } from '#core/fault.ts';
import { type Certificate, parseCertificate } from '#core/x509/certificate.ts';
import {
  certificatePoliciesExtension,
  policyConstraintsExtension,
  policyMappingsExtension,
} from '#core/x509/extensions/policies.ts';
import { basicConstraintsExtension } from '#core/x509/extensions/usage.ts';
import { oid } from '#core/x509/oids.ts';
import { type PathOptions, validatePath } from '#core/x509/path.ts';
import { runs } from '#tests/property.ts';
import { certificate, certify, keyOf, noon, type Order, type Party, party } from './certify.ts';
import type { Chain } from './openssl.ts';
import { device, four, lower, middle, root, three } from './row.ts';

const parsed = ({ leaf, intermediates, anchors }: Chain) => ({
  leaf: parseCertificate(leaf),
  options: {
    intermediates: intermediates.map(parseCertificate),
    anchors: anchors.map(parseCertificate),
    time: noon,
  } satisfies PathOptions,
});

const hour = 3600 * 1000;

describe('validatePath', () => {
  test('returns the chain from the leaf to the anchor', () => {
    const { leaf, options } = parsed(four());
    const result = validatePath(leaf, options);
    expect(result).toEqual({
      ok: true,
      chain: [leaf, options.intermediates[1]!, options.intermediates[0]!, options.anchors[0]!],
      policies: [],
    });
  });

  test('accepts a certificate until the end of the second in notAfter', () => {
    const { leaf, options } = parsed(three());
    const at = (time: number) => validatePath(leaf, { ...options, time }).ok;
    const last = Math.min(...[leaf, ...options.intermediates, ...options.anchors].map((one) => one.notAfter));
    expect([at(last), at(last + 999), at(last + 1000)]).toEqual([true, true, false]);
  });

  test('stops at the first anchor of a path', () => {
    const { leaf, options } = parsed(three());
    const result = validatePath(leaf, {
      ...options,
      anchors: [...options.anchors, ...options.intermediates],
    });
    expect(result).toMatchObject({ ok: true, chain: [leaf, options.intermediates[0]!] });
  });

  test('returns the policies in the terms of the anchor', () => {
    const [ours, theirs, others] = ['1.2.3.1', '1.2.3.2', '1.2.3.3'] as const;
    const policies = (...oids: string[]) => certificatePoliciesExtension(oids.map((one) => ({ oid: one })));
    const mapping = policyMappingsExtension([{ issuerDomainPolicy: ours, subjectDomainPolicy: theirs }]);
    const { leaf, options } = parsed(
      three({ middle: { with: [policies(ours, others), mapping] }, leaf: { with: [policies(theirs)] } }),
    );
    expect(validatePath(leaf, options)).toMatchObject({ ok: true, policies: [ours] });
  });

  test.each([
    ['the device', { leaf: { with: [policyConstraintsExtension({ requireExplicitPolicy: 0 })] } }],
    ['a CA', { middle: { with: [policyConstraintsExtension({ requireExplicitPolicy: 1 })] } }],
  ])('names the device without a policy when %s requires one', (_who, orders) => {
    const { leaf, options } = parsed(three(orders));
    expect(validatePath(leaf, options)).toMatchObject({
      ok: false,
      reason: 'policy',
      detail: expect.stringContaining('device-1'),
    });
  });

  test('returns anyPolicy when it is valid for the whole path', () => {
    const any = { with: [certificatePoliciesExtension([{ oid: oid.anyPolicy }])] };
    const { leaf, options } = parsed(three({ middle: any, leaf: any }));
    expect(validatePath(leaf, options)).toMatchObject({ ok: true, policies: [oid.anyPolicy] });
  });

  test('checks the revocation of every certificate except the anchor, with its issuer', () => {
    const { leaf, options } = parsed(four());
    const [upper, below] = options.intermediates as [Certificate, Certificate];
    const asked: Certificate[][] = [];
    validatePath(leaf, { ...options, isRevoked: (...question) => asked.push(question) < 0 });
    expect(asked).toEqual([
      [upper, options.anchors[0]!],
      [below, upper],
      [leaf, below],
    ]);
  });

  test('rethrows the exception of a revocation check', () => {
    const { leaf, options } = parsed(three());
    const isRevoked = () => {
      throw new Fault('unavailable', 'no CRL');
    };
    expect(() => validatePath(leaf, { ...options, isRevoked })).toThrow('no CRL');
  });

  test('rejects NaN as the time', () => {
    const { leaf, options } = parsed(three());
    expect(validatePath(leaf, { ...options, time: Number.NaN })).toMatchObject({ ok: false });
  });

  test('verifies ML-DSA, which OpenSSL 3.0 lacks', async () => {
    const pair = (await crypto.subtle.generateKey('ML-DSA-65', true, ['sign', 'verify'])) as CryptoKeyPair;
    const { KeyObject } = await import('node:crypto');
    const key = keyOf(KeyObject.from(pair.privateKey), KeyObject.from(pair.publicKey), 'ml-dsa-65');
    const top = party('CN=Top', key);
    const options = { intermediates: [], anchors: [certificate(top, top, { ca: true })], time: noon };
    expect(validatePath(certificate(device, top), options)).toMatchObject({ ok: true });
    const other = certificate(device, { ...top, name: root.name });
    expect(validatePath({ ...other, issuer: top.name }, options)).toMatchObject({ ok: true });
    expect(validatePath({ ...other, issuer: top.name, tbs: device.key.spki }, options)).toMatchObject({
      reason: 'badSignature',
    });
  });
});

describe('of several failures, validatePath reports', () => {
  const other = party('CN=Other Root,O=Plant');
  const expired = { ca: true, notAfter: noon - hour } satisfies Order;
  const rootCertificate = certificate(root, root, { ca: true });
  const otherRoot = certificate(other, other, { ca: true });
  const leaf = certificate(device, middle);

  const rows: readonly [string, Partial<PathOptions>, object][] = [
    [
      'what is wrong with a path that led to an anchor, not that another led nowhere',
      { intermediates: [certificate(middle, root, expired), certificate(middle, lower, { ca: true })] },
      {
        reason: 'expired',
        detail: expect.stringContaining('"CN=Issuing CA,O=Plant" expired at 2026-06-01T11:00:00'),
      },
    ],
    [
      'what is wrong with the path whose certificates are valid in time',
      {
        intermediates: [
          certificate(middle, root, expired),
          certificate(middle, other, {
            ca: true,
            pathLength: 0,
            with: [basicConstraintsExtension({ ca: false })],
          }),
        ],
        anchors: [rootCertificate, otherRoot],
      },
      { reason: 'notACa' },
    ],
    [
      'the missing issuer at the end of the way that came furthest',
      { intermediates: [certificate(middle, lower, { ca: true })] },
      { reason: 'unknownIssuer', detail: expect.stringContaining('"CN=Issuing CA,O=Plant"') },
    ],
    [
      'that the issuer is unknown, not that a namesake with another key identifier did not sign',
      { intermediates: [certificate(party('CN=Issuing CA,O=Plant'), root, { ca: true })] },
      { reason: 'unknownIssuer', detail: expect.stringContaining('"CN=device-1,O=Plant"') },
    ],
    ['of the leaf what no issuer could mend', { intermediates: [] }, { reason: 'unknownIssuer' }],
  ];
  for (const [what, options, expected] of rows) {
    test(what, () => {
      const all = { intermediates: [], anchors: [rootCertificate], time: noon, ...options };
      expect(validatePath(leaf, all)).toMatchObject({ ok: false, ...expected });
    });
  }
});

describe('properties of validatePath', () => {
  const chain = four();
  const { leaf, options } = parsed(chain);

  /** Replaces, inserts or removes octets. */
  const changes = fc.array(
    fc.record({
      at: fc.nat(10_000),
      take: fc.nat(2),
      put: fc.uint8Array({ maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 3 },
  );
  const change = (
    der: Uint8Array,
    list: readonly { at: number; take: number; put: Uint8Array }[],
  ): Uint8Array =>
    list.reduce((octets, { at, take, put }) => {
      const from = at % octets.length;
      return Uint8Array.from([...octets.subarray(0, from), ...put, ...octets.subarray(from + take)]);
    }, der);

  const tryParse = (der: Uint8Array): Certificate | undefined => {
    try {
      return parseCertificate(der);
    } catch (error) {
      expect(error).toBeInstanceOf(Fault);
      return undefined;
    }
  };

  test('a changed leaf is never accepted', () => {
    fc.assert(
      fc.property(changes, (list) => {
        const der = change(chain.leaf, list);
        const changed = tryParse(der);
        if (!changed) return;
        const same = Buffer.compare(der, chain.leaf) === 0;
        expect(validatePath(changed, options).ok).toBe(same);
      }),
      runs(500),
    );
  });

  test('a changed CA is never accepted', () => {
    fc.assert(
      fc.property(changes, fc.nat(1), (list, which) => {
        const der = change(chain.intermediates[which]!, list);
        const changed = tryParse(der);
        if (!changed) return;
        const same = Buffer.compare(der, chain.intermediates[which]!) === 0;
        const intermediates = options.intermediates.with(which, changed);
        expect(validatePath(leaf, { ...options, intermediates }).ok).toBe(same);
      }),
      runs(500),
    );
  });

  test('arbitrary extension values cause no exception', () => {
    const known = [
      oid.keyUsage,
      oid.subjectAltName,
      oid.basicConstraints,
      oid.nameConstraints,
      oid.certificatePolicies,
      oid.policyMappings,
      oid.policyConstraints,
      oid.inhibitAnyPolicy,
      oid.extendedKeyUsage,
      oid.authorityKeyIdentifier,
      oid.subjectKeyIdentifier,
    ];
    const extensions = fc.uniqueArray(
      fc.record({
        oid: fc.constantFrom(...known),
        critical: fc.boolean(),
        value: fc.uint8Array({ maxLength: 12 }),
      }),
      { selector: (one) => one.oid, maxLength: 3 },
    );
    const values = fc.tuple(extensions, extensions, extensions);
    fc.assert(
      fc.property(values, ([top, between, bottom]) => {
        const { leaf, options } = parsed(
          three({ root: { with: top }, middle: { with: between }, leaf: { with: bottom } }),
        );
        const result = validatePath(leaf, options);
        expect(result.ok || result.detail.length > 0).toBe(true);
      }),
      runs(200),
    );
  });

  test('the order of the certificates does not matter', () => {
    const { intermediates, anchors } = options;
    const more = [
      ...intermediates,
      certificate(lower, root, { ca: true }),
      certificate(root, lower, { ca: true }),
      leaf,
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray(more, { minLength: more.length }), (shuffled) => {
        const result = validatePath(leaf, { intermediates: shuffled, anchors, time: noon });
        expect(result).toMatchObject({ ok: true });
      }),
      runs(50),
    );
  });

  describe('with random CAs', () => {
    const cas = Array.from({ length: 5 }, (_, i) => party(`CN=CA ${i}`));
    const certificates = new Map<string, Certificate>();
    const link = (subject: Party, issuer: Party): Certificate => {
      const key = `${cas.indexOf(subject)} ${cas.indexOf(issuer)}`;
      const made = certificates.get(key) ?? certificate(subject, issuer, { ca: true });
      certificates.set(key, made);
      return made;
    };
    const end = certificate(device, cas[0]!);

    test('a path is found when one exists, and its links are valid', () => {
      const ca = fc.nat(cas.length - 1);
      const links = fc.array(fc.tuple(ca, ca), { maxLength: 12 });
      fc.assert(
        fc.property(links, fc.array(ca, { maxLength: 2 }), (pairs, trusted) => {
          const intermediates = pairs.map(([subject, issuer]) => link(cas[subject]!, cas[issuer]!));
          const anchors = trusted.map((one) => link(cas[one]!, cas[one]!));
          const result = validatePath(end, { intermediates, anchors, time: noon });
          expect(result.ok).toBe(trusted.some((one) => reaches(pairs, one)));
          if (!result.ok) return;
          expect(result.chain[0]).toBe(end);
          expect(anchors).toContain(result.chain.at(-1)!);
          result.chain.slice(0, -1).forEach((below, i) => {
            const above = new X509Certificate(result.chain[i + 1]!.der);
            expect(new X509Certificate(below.der).verify(above.publicKey)).toBe(true);
          });
        }),
        runs(300),
      );
    });

    /** Returns whether CA 0 leads up to this one, over certificates as pairs [subject, issuer]. */
    function reaches(pairs: readonly (readonly [number, number])[], goal: number): boolean {
      const reached = new Set([0]);
      for (const at of reached)
        for (const [subject, issuer] of pairs) if (subject === at) reached.add(issuer);
      return reached.has(goal);
    }
  });
});

test('a certificate from `certify` is read the same by node:crypto', () => {
  expect(new X509Certificate(certify(device, middle)).subject).toContain('CN=device-1');
});
