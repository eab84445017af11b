import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { Fault } from '#core/fault.ts';
import { runs } from '#tests/property.ts';

const key = randomBytes(32);
const vault = createVault(key);
const secret = Buffer.from('est password');

function faultOf(action: () => unknown): Fault {
  try {
    action();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('no Fault');
}

describe('the vault', () => {
  test('opens what it sealed for the same context', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), fc.string({ unit: 'grapheme' }), (plain, context) => {
        expect(Buffer.from(vault.open(vault.seal(plain, context), context))).toEqual(Buffer.from(plain));
      }),
      runs(300),
    );
  });

  test('opens secrets of another gateway with the same master key', () => {
    expect(Buffer.from(createVault(Buffer.from(key)).open(vault.seal(secret, 'a'), 'a'))).toEqual(secret);
  });

  test('seals the same secret differently each time', () => {
    const sealed = Array.from({ length: 100 }, () => Buffer.from(vault.seal(secret, 'a')).toString('hex'));
    expect(new Set(sealed).size).toBe(100);
  });

  test('does not open for another context', () => {
    expect(faultOf(() => vault.open(vault.seal(secret, 'device 1'), 'device 2')).code).toBe('internal');
  });

  test('does not open under another master key', () => {
    expect(faultOf(() => createVault(randomBytes(32)).open(vault.seal(secret, 'a'), 'a')).code).toBe(
      'internal',
    );
  });

  test('does not open when any bit has changed', () => {
    const sealed = vault.seal(secret, 'a');
    for (let i = 0; i < sealed.length * 8; i++) {
      const changed = Uint8Array.from(sealed);
      changed[i >> 3]! ^= 1 << (i & 7);
      expect(faultOf(() => vault.open(changed, 'a')).code).toBe('internal');
    }
  });

  test('answers arbitrary bytes with an internal Fault whose context is only in the log', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const fault = faultOf(() => vault.open(bytes, 'device 7'));
        expect(fault.code).toBe('internal');
        expect(fault.detail).toBe('internal error');
        expect((fault.cause as Error).message).toContain('device 7');
      }),
      runs(300),
    );
  });

  test('does not open when truncated to any length', () => {
    const sealed = vault.seal(secret, 'a');
    for (let length = 0; length < sealed.length; length++) {
      expect(faultOf(() => vault.open(sealed.subarray(0, length), 'a')).code).toBe('internal');
    }
  });
});
