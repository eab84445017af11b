import { describe, expect, test } from 'bun:test';
import { existingKey } from '#core/ca/create-ca.ts';
import { Fault } from '#core/fault.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
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
