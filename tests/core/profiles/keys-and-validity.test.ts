import { describe, expect, test } from 'bun:test';
import type { KeyType } from '#core/x509/algorithm.ts';
import type { Certificate } from '#core/x509/certificate.ts';
import { apply, issuer, plain, refusal } from './rehearsal.ts';

describe('keys', () => {
  const rows: readonly [rule: object | undefined, key: KeyType, refused: string | undefined][] = [
    [undefined, 'rsa-2048', undefined],
    [undefined, 'ml-dsa-87', undefined],
    [{ allowed: ['p-256', 'rsa'] }, 'p-256', undefined],
    [{ allowed: ['p-256', 'rsa'] }, 'rsa-2048', undefined],
    [{ allowed: ['rsa-2048'] }, 'rsa-2048', undefined],
    [{ allowed: ['p-256', 'rsa'] }, 'p-384', 'p-384 is not allowed; allowed: p-256, rsa'],
    [{ allowed: ['p-256'] }, 'ed25519', 'ed25519 is not allowed; allowed: p-256'],
    [{ allowed: ['p-256'] }, 'rsa-2048', 'rsa-2048 is not allowed; allowed: p-256'],
    [{ allowed: ['rsa-3072'] }, 'rsa-2048', 'rsa-2048 is not allowed; allowed: rsa-3072'],
    [{ minimumRsaBits: 3072 }, 'rsa-2048', 'rsa-2048 is not allowed: RSA keys must have at least 3072 bits'],
    [{ minimumRsaBits: 3072 }, 'p-256', undefined],
    [{ allowed: ['rsa'], minimumRsaBits: 2048 }, 'rsa-2048', undefined],
  ];
  for (const [keys, key, refused] of rows) {
    test(`${JSON.stringify(keys)}: ${key} is ${refused ? 'rejected' : 'accepted'}`, () => {
      const attempt = () => apply(keys ? { ...plain, keys } : plain, { subject: 'CN=x', key });
      if (refused) expect(refusal(attempt)).toBe(`badAlgorithm: keys: ${refused}`);
      else expect(attempt().notAfter).toBeGreaterThan(0);
    });
  }
});

describe('validity', () => {
  const at = (text: string): number => Date.parse(text);
  const ca = (notBefore: string, notAfter: string): Certificate => ({
    ...issuer,
    notBefore: at(notBefore),
    notAfter: at(notAfter),
  });
  const century = ca('2000-01-01T00:00:00Z', '2100-01-01T00:00:00Z');
  const forever = ca('2000-01-01T00:00:00Z', '9999-12-31T23:59:59Z');
  const rows: readonly [
    validity: object,
    now: string,
    issuer: Certificate,
    notBefore: string,
    notAfter: string,
  ][] = [
    [
      { duration: 'P1Y' },
      '2026-05-17T12:30:15.750Z',
      century,
      '2026-05-17T11:30:15.000Z',
      '2027-05-17T12:30:15.000Z',
    ],
    [
      { duration: 'P1Y' },
      '2024-02-29T00:30:00.000Z',
      century,
      '2024-02-28T23:30:00.000Z',
      '2025-02-28T00:30:00.000Z',
    ],
    [
      { duration: 'P1M' },
      '2026-01-31T12:00:00.000Z',
      century,
      '2026-01-31T11:00:00.000Z',
      '2026-02-28T12:00:00.000Z',
    ],
    [
      { duration: 'PT10M' },
      '2026-01-31T12:00:00.000Z',
      century,
      '2026-01-31T11:00:00.000Z',
      '2026-01-31T12:10:00.000Z',
    ],
    // never after the CA expires
    [
      { duration: 'P80Y' },
      '2026-01-31T12:00:00.000Z',
      century,
      '2026-01-31T11:00:00.000Z',
      '2100-01-01T00:00:00.000Z',
    ],
    [
      { until: '9999-12-31T23:59:59Z' },
      '2026-01-31T12:00:00.000Z',
      century,
      '2026-01-31T11:00:00.000Z',
      '2100-01-01T00:00:00.000Z',
    ],
    [
      { until: '9999-12-31T23:59:59Z' },
      '2026-01-31T12:00:00.000Z',
      forever,
      '2026-01-31T11:00:00.000Z',
      '9999-12-31T23:59:59.000Z',
    ],
    [
      { until: '2030-06-01T00:00:00Z' },
      '2026-01-31T12:00:00.000Z',
      century,
      '2026-01-31T11:00:00.000Z',
      '2030-06-01T00:00:00.000Z',
    ],
    [
      { duration: 'P9999Y' },
      '2026-01-31T12:00:00.000Z',
      forever,
      '2026-01-31T11:00:00.000Z',
      '9999-12-31T23:59:59.000Z',
    ],
    // a CA half an hour old
    [
      { duration: 'P1Y' },
      '2000-01-01T00:30:00.000Z',
      century,
      '2000-01-01T00:00:00.000Z',
      '2001-01-01T00:30:00.000Z',
    ],
  ];
  for (const [validity, now, around, notBefore, notAfter] of rows) {
    test(`${JSON.stringify(validity)} at ${now}: ${notBefore} to ${notAfter}`, () => {
      const outcome = apply({ ...plain, validity }, { subject: 'CN=x' }, { now: at(now), issuer: around });
      expect(new Date(outcome.notBefore).toISOString()).toBe(notBefore);
      expect(new Date(outcome.notAfter).toISOString()).toBe(notAfter);
    });
  }

  test('an expired CA or profile issues no certificates', () => {
    const ended = (validity: object, now: string) =>
      refusal(() => apply({ ...plain, validity }, { subject: 'CN=x' }, { now: at(now), issuer: century }));
    expect(ended({ duration: 'P1Y' }, '2100-01-01T00:00:00Z')).toBe(
      'conflict: validity: the certificate of the issuing CA has expired',
    );
    expect(ended({ until: '2025-01-01T00:00:00Z' }, '2026-01-01T00:00:00Z')).toBe(
      'conflict: validity: the validity period of the profile has expired',
    );
  });
});
