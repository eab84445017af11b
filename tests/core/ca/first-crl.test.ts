import { expect, test } from 'bun:test';
import { decodePem } from '#adapters/wire/pem.ts';
import { parseCrl } from '#core/x509/crl.ts';
import { installation } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { outsideCa } from '#tests/fixtures/outside-ca.ts';

const numberOf = (crl: Uint8Array): bigint | undefined => parseCrl(crl).number;

test('the CAs of the first start have their CRLs', async () => {
  await using site = await installation();
  const { records } = await site.store.list('issuingCa', { limit: 10 });
  expect(records.map(({ uniqueName }) => uniqueName).sort()).toEqual(['issuing', 'root']);
  for (const { id } of records) expect(numberOf(await site.gateway.crl(id))).toBe(1n);
});

const pkcs8 = (key: ReturnType<typeof testKey>): Uint8Array =>
  new Uint8Array(key.privateKey.export({ format: 'der', type: 'pkcs8' }));

const kinds = {
  root: { uniqueName: 'another root', type: 0 },
  intermediate: { uniqueName: 'intermediate', type: 1 },
  imported: {
    uniqueName: 'imported',
    type: 2,
    material: {
      privateKey: pkcs8(testKey('p-256', 'outside issuing')),
      certificate: outsideCa().certificateDer,
      chain: decodePem(outsideCa().root).map(({ der }) => der),
    },
  },
  'in a token': { uniqueName: 'in a token', type: 3, keyStore: 'hsm' },
} as const;

test.each(Object.entries(kinds))('a new CA (%s) has its CRL before the response', async (_, input) => {
  await using site = await installation({
    token: ({ export: _, import: __, ...keys }) => keys,
    clock: { now: () => Date.now(), advance: () => {} },
  });
  const ca = await site.gateway.issuingCas.create(site.admin, input);
  expect(ca.lastCrlIssuedAt).not.toBeNull();
  expect(numberOf(await site.gateway.crl(ca.id))).toBe(1n);
});

test.each([1, 2])('the CA of a new credential of type %p has its CRL before the response', async (type) => {
  await using site = await installation();
  const { issuingCa } = await site.gateway.credentials.create(site.admin, { type });
  expect(numberOf(await site.gateway.crl(issuingCa!))).toBe(1n);
});

test('a CA whose first CRL cannot be signed is created, and maintenance issues the CRL', async () => {
  let signatures = Number.POSITIVE_INFINITY;
  await using site = await installation({
    wrapKeys: (keys) => ({
      ...keys,
      sign(...args) {
        if (signatures-- <= 0) throw new Error('the key store is busy');
        return keys.sign(...args);
      },
    }),
  });
  // The signature of the CA certificate itself.
  signatures = 1;
  const ca = await site.gateway.issuingCas.create(site.admin, { uniqueName: 'later', type: 0 });
  expect(ca.lastCrlIssuedAt).toBeNull();
  expect(site.log.entries.map(({ event }) => event)).toContain('the first CRL of a CA could not be issued');
  signatures = Number.POSITIVE_INFINITY;
  await site.gateway.maintain('test');
  expect(numberOf(await site.gateway.crl(ca.id))).toBe(1n);
});
