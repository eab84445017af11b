import { describe, expect, test } from 'bun:test';
import type { CaInput } from '#core/administration/make-ca.ts';
import { existingKey } from '#core/ca/create-ca.ts';
import { publicUrls } from '#core/configuration/ca-lookup.ts';
import { settingName } from '#core/configuration/runtime-settings.ts';
import { der } from '#core/der/builder.ts';
import { Fault } from '#core/fault.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import { issuingCaType } from '#core/records/issuing-ca.ts';
import { settingWrite } from '#core/storage/setting-content.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import {
  authorityInfoAccessExtension,
  crlDistributionPointsExtension,
} from '#core/x509/extensions/locations.ts';
import { oid } from '#core/x509/oids.ts';
import { installation } from '#tests/fixtures/installation.ts';

const hour = 3_600_000;

describe('a CA', () => {
  test('is valid from an hour ago, not before its parent, and until its own end or that of its parent', async () => {
    await using site = await installation();
    const { gateway, admin, clock } = site;
    const year = 365 * 24 * hour;
    const started = clock.now();
    const create = async (input: object) => {
      const made = await gateway.issuingCas.create(admin, input as never);
      return parseCertificate((await site.store.get('issuingCa', made.id))!.certificate);
    };
    const { id: parent } = (await site.store.find('issuingCa', { uniqueName: 'root' }))!;
    const root = parseCertificate((await site.store.get('issuingCa', parent))!.certificate);
    expect(root.notBefore).toBe(started - hour);
    clock.advance(hour / 2 + 1);
    const soon = await create({ uniqueName: 'soon', type: 1, parent });
    expect(soon.notBefore).toBe(started - hour / 2);
    expect(soon.notAfter).toBeLessThanOrEqual(root.notAfter);
    clock.advance(root.notAfter - clock.now() - year);
    const late = await create({ uniqueName: 'late', type: 1, parent });
    expect(late.notAfter).toBe(root.notAfter);
  });
});

describe('a CA that the security level does not allow', () => {
  test.each<[what: string, input: Partial<CaInput>, field: string]>([
    ['a key of another type', { keyType: 'p-256' }, 'keyType'],
    ['a validity period that is too long', { keyType: 'p-384', validity: 'P25Y' }, 'validity'],
  ])('%s: no key is generated', async (_what, input, field) => {
    let generated = 0;
    const wrapKeys = (keys: KeyStore): KeyStore => ({
      ...keys,
      generate(...rest) {
        generated++;
        return keys.generate(...rest);
      },
    });
    await using site = await installation({ wrapKeys });
    const value = Buffer.from(JSON.stringify({ securityLevel: 'critical' }));
    const setting = await site.store.find('setting', { name: settingName });
    await site.store.commit([settingWrite(settingName, setting, value, false)]);
    const before = generated;
    const gateway = await site.restarted();
    const create = (changed: Partial<CaInput>) =>
      gateway.issuingCas.create(site.admin, { uniqueName: 'strict', type: 0, ...input, ...changed });
    expect(await create({}).catch((fault) => fault)).toMatchObject({ code: 'malformed', field });
    expect(generated).toBe(before);
    await create({ keyType: 'p-384', validity: 'P20Y' });
    expect(generated).toBe(before + 1);
  });
});

test('a root is not created with an existing key that can be factored', async () => {
  // The product of two close numbers is found by the same search as that of two close primes.
  const close = 3n * 2n ** 1022n + 1n;
  const modulus = Uint8Array.fromHex((close * (close + 2n)).toString(16));
  const numbers = der((b) => b.sequence((s) => s.unsigned(modulus).unsigned(Uint8Array.of(1, 0, 1))));
  const spki = der((b) =>
    b.sequence((s) => s.sequence((a) => a.oid(oid.rsaEncryption).null()).bitString(numbers)),
  );
  const token = ({ export: _, import: __, ...keys }: KeyStore): KeyStore => ({
    ...keys,
    inProcess: false,
    publicKey: async () => spki,
  });
  await using site = await installation({ token });
  const input = { uniqueName: 'weak', type: issuingCaType.localPkcs11, keyStore: 'hsm', keyId: 'weak' };
  const created = site.gateway.issuingCas.create(site.admin, input);
  expect(await created.catch((fault) => fault)).toMatchObject({
    code: 'badAlgorithm',
    detail: expect.stringContaining('can be factored'),
  });
});

test.each([undefined, 'http://ocsp.example'])(
  'a CA below another one names where its status is found (OCSP: %p)',
  async (ocspUrl) => {
    await using site = await installation();
    const gateway = await site.restarted(ocspUrl === undefined ? {} : { ocspUrl });
    const parent = (await site.store.find('issuingCa', { uniqueName: 'root' }))!.id;
    const made = await gateway.issuingCas.create(site.admin, { uniqueName: 'below', type: 1, parent });
    const certificate = parseCertificate((await site.store.get('issuingCa', made.id))!.certificate);
    const { crl, aia } = publicUrls({ publicUrl: 'http://pki.example:8080' }, parent);
    const located = certificate.extensions.slice(-2);
    expect(located).toEqual([
      crlDistributionPointsExtension([crl]),
      authorityInfoAccessExtension({ caIssuers: [aia], ocsp: ocspUrl === undefined ? [] : [ocspUrl] }),
    ]);
  },
);

describe('an existing key', () => {
  const spki = Uint8Array.of(1);
  const fails = (code: 'notFound' | 'unavailable' | 'conflict') => () =>
    Promise.reject(new Fault(code, 'as told'));
  const lookUp = (keys: Partial<KeyStore>) =>
    existingKey({ name: 'hsm', keys: keys as KeyStore }, 'label').then(
      ({ id, found }) => [id, found],
      ({ code, field }) => [code, field],
    );

  test.each<[what: string, keys: Partial<KeyStore>, expected: unknown[]]>([
    ['with this id is found', { publicKey: async () => spki }, ['label', true]],
    [
      'with this label is found in a token',
      { publicKey: fails('notFound'), find: async () => ({ id: '7', spki }) },
      ['7', true],
    ],
    ['that is missing is malformed', { publicKey: fails('notFound') }, ['malformed', 'keyId']],
    [
      'that is missing in a token is malformed',
      { publicKey: fails('notFound'), find: fails('notFound') },
      ['malformed', 'keyId'],
    ],
    [
      'whose label is not unique is malformed',
      { publicKey: fails('notFound'), find: fails('conflict') },
      ['malformed', 'keyId'],
    ],
    [
      'is not searched by its label while the token is unavailable',
      { publicKey: fails('unavailable'), find: async () => ({ id: '7', spki }) },
      ['unavailable', undefined],
    ],
  ])('%s', async (_what, keys, expected) => {
    expect(await lookUp(keys)).toEqual(expected);
  });
});
