import { describe, expect, test } from 'bun:test';
import { systemEntropy } from '#adapters/outbound/system/platform.ts';
import { newUniqueName, profileNameOf } from '#core/ca/credential-kinds.ts';
import { caDefaults, caLifetime, caSubject } from '#core/ca/new-ca.ts';
import { credentialType } from '#core/records/credential.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';

const entropy = systemEntropy;
const year = 365.25 * 24 * 3_600_000;

describe('a new CA', () => {
  test('has a key and a lifetime that depend on whether it is a root', () => {
    expect(caDefaults(true)).toEqual({ keyType: 'p-384', lifetime: 20 * year });
    expect(caDefaults(false)).toEqual({ keyType: 'p-256', lifetime: 10 * year });
    expect([true, false].map((isRoot) => caLifetime(undefined, isRoot, 0))).toEqual([20 * year, 10 * year]);
  });

  test.each<[validity: string, milliseconds: number | undefined]>([
    ['P1D', 24 * 3_600_000],
    ['P100Y', Date.UTC(2070, 0, 1)],
    ['P101Y', undefined],
    ['a decade', undefined],
  ])('that is to be valid for %s', (validity, milliseconds) => {
    const read = () => caLifetime(validity, true, 0);
    if (milliseconds === undefined) expect(read).toThrow('at most 100 years');
    else expect(read()).toBe(milliseconds);
  });

  test.each<[isRoot: boolean, given: Parameters<typeof caSubject>[2], subject: RegExp]>([
    [true, {}, /^CN=Postern Root CA [0-9A-F]{8},O=Postern$/],
    [false, {}, /^CN=Postern Issuing CA [0-9A-F]{8},O=Postern$/],
    [true, { commonName: 'Plant' }, /^CN=Plant$/],
    [false, { subject: 'CN=Plant,O=Example' }, /^CN=Plant,O=Example$/],
  ])('(root: %p) with %p gets its subject', (isRoot, given, subject) => {
    expect(formatDistinguishedName(caSubject({ entropy }, isRoot, given))).toMatch(subject);
  });

  test.each<[given: Parameters<typeof caSubject>[2], field: string]>([
    [{ subject: 'CN=Plant', commonName: 'Plant' }, 'subject'],
    [{ subject: 'Plant' }, 'subject'],
    [{ commonName: '' }, 'commonName'],
  ])('with %p is rejected', (given, field) => {
    expect(() => caSubject({ entropy }, true, given)).toThrow(
      expect.objectContaining({ code: 'malformed', field }),
    );
  });
});

describe('a credential', () => {
  test.each<[type: number, slug: string, profile: string]>([
    [credentialType.tlsServer, 'tls-server', 'tls_server'],
    [credentialType.rootCa, 'root-ca', 'tls_client'],
    [credentialType.issuingCa, 'issuing-ca', 'tls_client'],
    [credentialType.issuedCredential, 'issued-credential', 'tls_client'],
    [credentialType.devOwnerId, 'owner-id', 'dev_owner_id'],
    [credentialType.signer, 'signer', 'code_signing'],
    [99, 'credential', 'tls_client'],
  ])('of type %p is named after it: %s', (type, slug, profile) => {
    expect(newUniqueName({ entropy }, type)).toMatch(new RegExp(`^${slug}-[0-9a-f]{8}$`));
    expect(newUniqueName({ entropy }, type)).not.toBe(newUniqueName({ entropy }, type));
    expect(profileNameOf(type)).toBe(profile);
  });
});
