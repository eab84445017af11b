import { expect, test } from 'bun:test';
import type { Principal } from '#core/access/principal.ts';
import { person, policy } from '#tests/fixtures/approvals.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

const comment = { comment: 'as agreed' };

/** The number of the pending approval, or `issued`. */
async function asked({ gateway, admin }: Installation, who: Principal = admin): Promise<number | 'issued'> {
  const made = await gateway.certificates.create(who, { commonName: 'laptop 7' });
  return 'kind' in made ? made.id : 'issued';
}

const certificates = ({ store }: Installation) => store.count('certificate', [], 10);

test('an administrator who repeats a request by name gets its certificate once, after the approval', async () => {
  await using site = await installation();
  await policy(site, { decision: 'manual' });
  const approver = await person(site, 'jo');
  const before = await certificates(site);
  const first = await asked(site);
  expect(first).toBeNumber();
  expect(await asked(site)).toBe(first);
  await site.gateway.approvals.approve(approver, first as number, comment);
  expect(await asked(site)).toBe('issued');
  expect(await certificates(site)).toBe(before + 1);
  const second = await asked(site);
  expect(second).toBeNumber();
  expect(second).not.toBe(first);
});

test('a request by name can be repeated after its approval has expired, not after it was rejected', async () => {
  await using site = await installation();
  await policy(site, { decision: 'manual' });
  const first = await asked(site);
  site.clock.advance(366 * 24 * 3_600_000);
  await site.gateway.maintain('test');
  const second = await asked(site);
  expect(second).toBeNumber();
  expect(second).not.toBe(first);
  await site.gateway.approvals.reject(await person(site, 'jo'), second as number, comment);
  await expect(asked(site)).rejects.toMatchObject({ code: 'forbidden' });
});

test('a request by name with a key type that does not exist is rejected at this field', async () => {
  await using site = await installation();
  const input = { commonName: 'laptop 7', keyType: 'rsa-1024' as never };
  await expect(site.gateway.certificates.create(site.admin, input)).rejects.toMatchObject({
    field: 'keyType',
  });
});
