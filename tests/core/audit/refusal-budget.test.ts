import { expect, test } from 'bun:test';
import { RefusalBudget } from '#core/audit/refusal-budget.ts';
import { opensslCertificate } from '#tests/fixtures/enrolment.ts';
import { holder, installation, password, testClock } from '#tests/fixtures/installation.ts';

test('sixty rejections per minute and address are recorded, and then their number', () => {
  const clock = testClock();
  const budget = new RefusalBudget(clock);
  const taken = Array.from({ length: 100 }, () => budget.take('192.0.2.1'));
  expect(taken.filter((unrecorded) => unrecorded === 0)).toHaveLength(60);
  expect(budget.take('192.0.2.2')).toBe(0);
  clock.advance(60_000);
  expect(budget.take('192.0.2.1')).toBe(40);
  expect(budget.take('192.0.2.1')).toBe(0);
  for (let n = 0; n < 60; n++) budget.take('192.0.2.1');
  clock.advance(-7_200_000);
  expect(budget.take('192.0.2.1')).toBe(2);
});

test('clients with untrusted certificates cannot fill the store', async () => {
  await using site = await installation();
  const evidence = holder(opensslCertificate('stranger'));
  const target = { protocol: 'est', domain: undefined, profile: undefined } as const;
  for (let n = 0; n < 100; n++)
    await site.gateway.admit(evidence, target).catch(({ code }) => expect(code).toBe('unauthenticated'));
  site.clock.advance(60_000);
  await site.gateway.admit(evidence, target).catch(() => {});
  const events = await site.audit('enrolment.admit');
  expect(events).toHaveLength(61);
  expect(events.at(-1)!.detail.unrecorded).toBe(40);
});

test('a device that repeats a rejected request cannot fill the store', async () => {
  await using site = await installation();
  const { password: secret } = await site.device('pump');
  const refused = () =>
    site
      .enrol(password('pump', secret), {}, new Uint8Array([0x30, 0]))
      .catch(({ code }) => expect(code).not.toBe('unauthenticated'));
  for (let n = 0; n < 100; n++) await refused();
  site.clock.advance(60_000);
  await refused();
  const events = await site.audit('enrolment.enrol');
  expect(events).toHaveLength(61);
  expect(events.at(-1)!.detail.unrecorded).toBe(40);
});
