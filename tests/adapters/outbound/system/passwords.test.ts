import { describe, expect, test } from 'bun:test';
import { passwords } from '#adapters/outbound/system/passwords.ts';
import { Fault } from '#core/fault.ts';

describe('passwords', () => {
  test('are hashed with argon2id, 19 MiB and two passes, as the hash states', async () => {
    expect(await passwords.hash('secret')).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$');
  });

  test('match their hash, and other passwords do not', async () => {
    const hash = await passwords.hash('secret');
    expect(await passwords.verify('secret', hash)).toBe(true);
    for (const wrong of ['Secret', 'secret ', 'secre', ''])
      expect(await passwords.verify(wrong, hash)).toBe(false);
  });

  test('have different salts', async () => {
    expect(await passwords.hash('secret')).not.toBe(await passwords.hash('secret'));
  });

  test('are equal for any Unicode normalization', async () => {
    const hash = await passwords.hash('Schlüssel'.normalize('NFC'));
    expect(await passwords.verify('Schlüssel'.normalize('NFD'), hash)).toBe(true);
  });

  test('may have 1024 characters, all of which count', async () => {
    const hash = await passwords.hash('x'.repeat(1024));
    expect(await passwords.verify('x'.repeat(1024), hash)).toBe(true);
    expect(await passwords.verify(`${'x'.repeat(1023)}y`, hash)).toBe(false);
  });

  test.each(['', 'x'.repeat(1025), 'x'.repeat(10_000_000)])(
    'are refused when empty or longer (case %#)',
    async (password) => {
      const fault = await passwords.hash(password).catch((error: unknown) => error);
      expect(fault).toBeInstanceOf(Fault);
      expect((fault as Fault).code).toBe('malformed');
      expect(await passwords.verify(password, await passwords.hash('secret'))).toBe(false);
    },
  );

  test.each([
    '',
    'secret',
    '$argon2id$',
    '$argon2id$v=19$m=19456,t=2,p=1$',
    '$argon2id$v=19$m=x,t=y,p=z$AAAA$AAAA',
    '$argon2i$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0$AAAA',
    '$2b$04$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  ])('do not match the unreadable hash %p, without an exception', async (hash) => {
    expect(await passwords.verify('secret', hash)).toBe(false);
  });
});
