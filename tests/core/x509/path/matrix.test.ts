import { afterAll, describe, expect, test } from 'bun:test';
import { sameBytes } from '#core/der/bytes.ts';
import { Fault } from '#core/fault.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { oid } from '#core/x509/oids.ts';
import { validatePath } from '#core/x509/path.ts';
import { noon } from './certify.ts';
import { OpenSsl } from './openssl.ts';
import type { Row } from './row.ts';
import { rowsOfConstraints } from './rows-constraints.ts';
import { rowsOfFields } from './rows-fields.ts';
import { rowsOfIssuers } from './rows-issuers.ts';
import { rowsOfLimbo } from './rows-limbo.ts';
import { rowsOfPkits } from './rows-pkits.ts';
import { rowsOfPkitsNames } from './rows-pkits-names.ts';
import { rowsOfPkitsPolicies } from './rows-pkits-policies.ts';
import { rowsOfPolicies } from './rows-policies.ts';

const openssl = new OpenSsl();
afterAll(() => openssl[Symbol.dispose]());

const openSslPurpose = { clientAuth: 'sslclient', serverAuth: 'sslserver' } as const;

function verdictOf(row: Row): Row['ours'] {
  try {
    const result = validatePath(parseCertificate(row.leaf), {
      intermediates: row.intermediates.map(parseCertificate),
      anchors: row.anchors.map(parseCertificate),
      time: row.time ?? noon,
      purpose: row.purpose && oid[row.purpose],
      isRevoked: ({ serial }) => row.revoked?.some((one) => sameBytes(one, serial)) ?? false,
    });
    return result.ok ? 'ok' : result.reason;
  } catch (error) {
    // The certificate parser rejects these before a path is built.
    if (error instanceof Fault && error.code === 'malformed') return 'malformed';
    throw error;
  }
}

/** One OpenSSL process per chain, for all rows of RFC 5280 that apply to devices. */
const rows = {
  rowsOfFields,
  rowsOfIssuers,
  rowsOfConstraints,
  rowsOfPolicies,
  rowsOfPkits,
  rowsOfPkitsNames,
  rowsOfPkitsPolicies,
  rowsOfLimbo,
};

for (const [part, of] of Object.entries(rows)) {
  describe(part, () => {
    for (const row of of) {
      test(`${row.rule}: ${row.ours}, OpenSSL: ${row.openssl}`, () => {
        expect(verdictOf(row)).toBe(row.ours);
        expect(
          openssl.verify(row, {
            time: row.time,
            purpose: row.purpose && openSslPurpose[row.purpose],
            crls: row.crls,
          }),
        ).toBe(row.openssl);
        const differ = (row.ours === 'ok') !== (row.openssl === 'ok');
        expect(row.why !== undefined, 'only a difference is explained, and each is').toBe(differ);
      });
    }
  });
}

test('the rows cover every failure and valid chains', () => {
  const all = Object.values(rows).flat();
  const failures = {
    expired: true,
    notYetValid: true,
    badSignature: true,
    unknownIssuer: true,
    notACa: true,
    pathTooLong: true,
    keyUsage: true,
    nameConstraints: true,
    unknownCriticalExtension: true,
    revoked: true,
    policy: true,
    weakAlgorithm: true,
    purpose: true,
    tooMuchWork: true,
    malformed: true,
  } satisfies Record<Exclude<Row['ours'], 'ok'>, true>;
  for (const failure of ['ok', ...Object.keys(failures)]) {
    expect(
      all.some((row) => row.ours === failure),
      failure,
    ).toBe(true);
  }
  expect(all.length).toBeGreaterThan(400);
});
