import { expect, test } from 'bun:test';
import { Fault } from '#core/fault.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

const restart = ({ gateway }: Installation) =>
  gateway.bootstrap({ adminPassword: '', holder: 'test' }, () => Promise.resolve());
const maintain = async ({ gateway, clock }: Installation) => {
  clock.advance(120_000);
  await gateway.maintain('test');
};
const readers: Readonly<Record<string, (site: Installation) => Promise<unknown>>> = {
  async 'runtime-settings'({ gateway, clock }) {
    clock.advance(2000);
    expect((await gateway.health()).configuration?.ok).toBe(false);
  },
  'issued-certificates': maintain,
  'audit-anchor': maintain,
  'shipped-roles': restart,
};

/** The service works without these settings and logs the failure. */
const servesOn: ReadonlySet<string> = new Set(['runtime-settings', 'shipped-roles']);

const damaged = ['', '{"number": 1, "digest": "a sec', 'null', '["a secret"]'];

test.each([
  ...Object.keys(readers).flatMap((name) => damaged.map((value) => [name, value] as const)),
  ['audit-anchor', '{"number":"1","digest":"a secret"}'],
  ['audit-anchor', '{"number":1}'],
  ['shipped-roles', '{"names":"a secret"}'],
] as const)('the setting %s as %p is reported by name, without its content', async (name, text) => {
  await using site = await installation();
  const { store } = site;
  const value = Buffer.from(text);
  const setting = await store.find('setting', { name });
  await store.commit([
    setting
      ? { op: 'update', kind: 'setting', id: setting.id, set: { value } }
      : { op: 'insert', kind: 'setting', values: { name, value } },
  ]);
  const logged = (): unknown => site.log.entries.findLast(({ level }) => level === 'error')?.cause;
  const fault = await readers[name]!(site).then(
    () => (servesOn.has(name) ? logged() : undefined),
    (error: unknown) => error,
  );
  if (!(fault instanceof Fault)) throw new Error('no Fault', { cause: fault });
  expect([fault.code, fault.detail]).toEqual(['internal', 'internal error']);
  expect(fault.cause).toEqual(new Error(`the setting ${name} in the store is damaged`));
});
