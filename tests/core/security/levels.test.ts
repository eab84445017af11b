import { describe, expect, test } from 'bun:test';
import type { ProfileRules } from '#core/profiles/language.ts';
import { shippedProfiles } from '#core/profiles/shipped.ts';
import { profileShortcomings } from '#core/profiles/shortcomings.ts';
import { type Evidence, evidenceShortcoming, type Protocol } from '#core/requester/evidence.ts';
import { shortcomings } from '#core/security/demands.ts';
import {
  type Holder,
  isStricter,
  levelNamed,
  levels,
  type SecurityLevel,
  securityLevels,
  usualLevel,
} from '#core/security/levels.ts';
import { defaultSignatureAlgorithm, type KeyType } from '#core/x509/algorithm.ts';

const now = Date.UTC(2026, 5, 1, 12);
const never = Date.UTC(9999, 11, 31, 23, 59, 59);
/** A validity period as Postern issues it: from one hour ago, for whole years. */
const after = (years: number): number => Date.UTC(2026 + years, 5, 1, 12);

/** One letter per level, in order: `.` accepted, `x` rejected. */
const verdicts = (refused: (level: SecurityLevel) => boolean): string =>
  securityLevels.map((level) => (refused(level) ? 'x' : '.')).join('');

interface Row {
  readonly key?: KeyType;
  readonly notAfter?: number;
  readonly endless?: boolean;
  /** The CA's key, which determines the signature algorithm. */
  readonly signer?: KeyType;
}

const judge =
  (holder: Holder, { key = 'p-384', notAfter = after(1), endless = false, signer = 'p-384' }: Row) =>
  (level: SecurityLevel): boolean => {
    const signatureAlgorithm = defaultSignatureAlgorithm(signer);
    const judged = { holder, key, notBefore: now - 3_600_000, notAfter, endless, signatureAlgorithm };
    return shortcomings(levels[level], judged).length > 0;
  };

describe('rules at the levels lab, brownfield, industrial, hardened, critical', () => {
  const rows: readonly [what: string, row: Row, endEntity: string, ca: string][] = [
    ['RSA with 2048 bits', { key: 'rsa-2048' }, '...xx', '..xxx'],
    ['RSA with 3071 bits', { key: 'rsa-3071' }, '...xx', '..xxx'],
    ['RSA with 3072 bits', { key: 'rsa-3072' }, '.....', '....x'],
    ['RSA with 4096 bits', { key: 'rsa-4096' }, '.....', '....x'],
    ['RSA with 8192 bits', { key: 'rsa-8192' }, '.....', '.....'],
    ['P-256', { key: 'p-256' }, '.....', '....x'],
    ['P-384', { key: 'p-384' }, '.....', '.....'],
    ['P-521', { key: 'p-521' }, '.....', '.....'],
    ['Ed25519', { key: 'ed25519' }, '.....', '....x'],
    ['ML-DSA-44', { key: 'ml-dsa-44' }, '.....', '....x'],
    ['ML-DSA-65', { key: 'ml-dsa-65' }, '.....', '.....'],
    ['ML-DSA-87', { key: 'ml-dsa-87' }, '.....', '.....'],
    ['2 years', { notAfter: after(2) }, '.....', '.....'],
    ['3 years', { notAfter: after(3) }, '....x', '.....'],
    ['5 years', { notAfter: after(5) }, '....x', '.....'],
    ['6 years', { notAfter: after(6) }, '...xx', '.....'],
    ['10 years', { notAfter: after(10) }, '...xx', '.....'],
    ['20 years', { notAfter: after(20) }, '..xxx', '.....'],
    ['21 years', { notAfter: after(21) }, '..xxx', '...xx'],
    ['30 years', { notAfter: after(30) }, '..xxx', '...xx'],
    ['50 years', { notAfter: after(50) }, '..xxx', '..xxx'],
    ['51 years', { notAfter: after(51) }, '.xxxx', '..xxx'],
    ['100 years', { notAfter: after(100) }, '.xxxx', '..xxx'],
    ['101 years', { notAfter: after(101) }, '.xxxx', '.xxxx'],
    ['no end', { notAfter: never }, '...xx', '...xx'],
    ['the end of the CA, for want of one', { notAfter: after(40), endless: true }, '...xx', '...xx'],
    ['a signature by P-256', { signer: 'p-256' }, '....x', '....x'],
    ['a signature by P-384', { signer: 'p-384' }, '.....', '.....'],
    ['a signature by RSA with 4096 bits', { signer: 'rsa-4096' }, '....x', '....x'],
    ['a signature by RSA with 8192 bits', { signer: 'rsa-8192' }, '.....', '.....'],
    ['a signature by Ed25519', { signer: 'ed25519' }, '....x', '....x'],
    ['a signature by ML-DSA-44', { signer: 'ml-dsa-44' }, '....x', '....x'],
    ['a signature by ML-DSA-65', { signer: 'ml-dsa-65' }, '.....', '.....'],
  ];
  test.each(rows)('%s', (_, row, endEntity, ca) => {
    expect([verdicts(judge('endEntity', row)), verdicts(judge('ca', row))]).toEqual([endEntity, ca]);
  });

  const address = '192.0.2.1';
  const password: Evidence = { kind: 'password', username: 'u', password: 'p', address };
  const mac = (secure: boolean): Evidence => ({
    kind: 'mac',
    reference: 'r',
    verify: () => true,
    secure,
    address,
  });
  const presented: readonly Evidence[] = [
    { kind: 'certificate', certificates: [], address },
    { kind: 'signature', certificates: [], address },
    { kind: 'none', address },
  ];
  const admissions: readonly [what: string, protocol: Protocol, evidence: Evidence, expected: string][] = [
    ['a password over EST', 'est', password, '....x'],
    ['a password over REST', 'rest', password, '...xx'],
    ['a MAC inside TLS', 'cmp', mac(true), '....x'],
    ['a MAC outside TLS', 'cmp', mac(false), '...xx'],
    ...presented.flatMap((evidence) =>
      (['est', 'rest', 'cmp'] as const).map((protocol): [string, Protocol, Evidence, string] => [
        `${evidence.kind} over ${protocol}`,
        protocol,
        evidence,
        '.....',
      ]),
    ),
  ];
  test.each(admissions)('%s', (_, protocol, evidence, expected) => {
    const refused = (level: SecurityLevel) =>
      evidenceShortcoming(levels[level], protocol, evidence) !== undefined;
    expect(verdicts(refused)).toBe(expected);
  });

  const rules = (part: Partial<ProfileRules>): ProfileRules => ({ validity: { duration: 'P1Y' }, ...part });
  const asCa = { extensions: { basicConstraints: { ca: true } } };
  const profiles: readonly [what: string, rules: ProfileRules, pointers: string, expected: string][] = [
    ['nothing about keys', rules({}), '', '.....'],
    ['any RSA key', rules({ keys: { allowed: ['rsa'] } }), '', '.....'],
    [
      'rsa-2048 among others',
      rules({ keys: { allowed: ['p-256', 'rsa-2048'] } }),
      '/keys/allowed/1',
      '...xx',
    ],
    ['at least 2048 bits', rules({ keys: { minimumRsaBits: 2048 } }), '/keys/minimumRsaBits', '...xx'],
    ['at least 3072 bits', rules({ keys: { minimumRsaBits: 3072 } }), '', '.....'],
    ['a CA with P-256', rules({ ...asCa, keys: { allowed: ['p-256'] } }), '/keys/allowed/0', '....x'],
    ['P10Y', rules({ validity: { duration: 'P10Y' } }), '/validity/duration', '...xx'],
    ['a CA with P10Y', rules({ ...asCa, validity: { duration: 'P10Y' } }), '', '.....'],
    ['P130M', rules({ validity: { duration: 'P130M' } }), '/validity/duration', '..xxx'],
    ['until 2029', rules({ validity: { until: '2029-06-01T00:00:00Z' } }), '/validity/until', '....x'],
    ['until 2027', rules({ validity: { until: '2027-06-01T00:00:00Z' } }), '', '.....'],
    ['no end', rules({ validity: { until: '9999-12-31T23:59:59Z' } }), '/validity/until', '...xx'],
  ];
  test.each(profiles)('a profile with %s', (_, written, pointer, expected) => {
    const found = (level: SecurityLevel) => profileShortcomings(levels[level], written, now);
    expect(verdicts((level) => found(level).length > 0)).toBe(expected);
    expect(found('critical').map((one) => one.pointer)).toEqual(pointer === '' ? [] : [pointer]);
  });

  const shipped: Readonly<Record<keyof typeof shippedProfiles, string>> = {
    domain_credential: '.....',
    tls_client: '.....',
    tls_server: '.....',
    opc_ua_client: '...xx',
    opc_ua_server: '...xx',
    idevid: '...xx',
    issuing_ca: '....x',
    dev_owner_id: '....x',
    code_signing: '....x',
    upstream_device: '....x',
  };
  test.each(Object.entries(shipped))('the shipped profile %s', (name, expected) => {
    const written = shippedProfiles[name as keyof typeof shippedProfiles];
    expect(verdicts((level) => profileShortcomings(levels[level], written, now).length > 0)).toBe(expected);
  });

  test('TLS', () => {
    expect(verdicts((level) => levels[level].minimumTls === 'TLSv1.3')).toBe('...xx');
  });
});

test('levels are ordered, and each is stricter than the one before', () => {
  for (const [n, level] of securityLevels.entries()) {
    for (const [m, other] of securityLevels.entries()) expect(isStricter(level, other)).toBe(n > m);
  }
  const most = (years: number | null) => years ?? Number.POSITIVE_INFINITY;
  for (const [n, level] of securityLevels.entries()) {
    const [one, next] = [levels[level], levels[securityLevels[Math.min(n + 1, 4)]!]];
    for (const holder of ['endEntity', 'ca'] as const) {
      expect(next.keys[holder].minimumRsaBits).toBeGreaterThanOrEqual(one.keys[holder].minimumRsaBits);
      expect(one.keys[holder].kinds).toEqual(expect.arrayContaining([...next.keys[holder].kinds]));
      expect(most(next.years[holder])).toBeLessThanOrEqual(most(one.years[holder]));
    }
    expect(next.bannedSignatures).toEqual(expect.arrayContaining([...one.bannedSignatures]));
  }
});

test('a level of a newer release is treated as the strictest', () => {
  expect(levelNamed('impregnable')).toBe(levels.critical);
  expect(levelNamed('constructor')).toBe(levels.critical);
  expect(levelNamed(usualLevel)).toBe(levels.brownfield);
});
