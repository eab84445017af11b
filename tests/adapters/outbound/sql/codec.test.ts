import { expect, test } from 'bun:test';
import { toRecord } from '#adapters/outbound/sql/codec.ts';

const row = () => ({ id: 7, uniqueName: 'operators', isProtected: 1, permissions: '["devices.read"]' });

test('a row becomes its record', () => {
  const record = { ...row(), isProtected: true, permissions: ['devices.read'] };
  expect<object>(toRecord('role', row())).toEqual(record);
});

test.each(['isProtected', 'permissions'] as const)(
  '%s, when a statement forgot it, is a failure, and not a record that goes without or makes it up',
  (field) => {
    const { [field]: _, ...forgotten } = row();
    const failure = expect.objectContaining({
      code: 'internal',
      cause: expect.objectContaining({ message: `${field} of role 7 was not read` }),
    });
    expect(() => toRecord('role', { ...forgotten })).toThrow(failure);
    expect(() => toRecord('role', { ...forgotten }, ['uniqueName'])).toThrow(failure);
  },
);

test('fields that were to be left out are not missed', () => {
  const { permissions: _, isProtected: __, ...brief } = row();
  expect<object>(toRecord('role', { ...brief }, ['permissions', 'isProtected'])).toEqual(brief);
});
