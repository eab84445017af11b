import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readBasicCredentials } from '#adapters/inbound/http/basic-credentials.ts';
import { Fault } from '#core/fault.ts';
import { basic } from '#tests/fixtures/enrolment.ts';
import { runs } from '#tests/property.ts';

describe('Basic credentials', () => {
  test.each([
    // RFC 7617 §2 and §2.1.
    ['Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==', 'Aladdin', 'open sesame'],
    ['Basic dGVzdDoxMjPCow==', 'test', '123£'],
    ['bAsIc  QWxhZGRpbjpvcGVuIHNlc2FtZQ==', 'Aladdin', 'open sesame'],
    [basic('a', ''), 'a', ''],
    [basic('a', ':b:c'), 'a', ':b:c'],
  ])('%j are read', (field, username, password) => {
    expect(readBasicCredentials(field)).toEqual({ username, password });
  });

  test.each([
    ['an empty field', ''],
    ['no credentials', 'Basic '],
    ['another scheme', 'Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ=='],
    ['no space', 'BasicQWxhZGRpbjpvcGVuIHNlc2FtZQ=='],
    ['no colon', `Basic ${btoa('Aladdin')}`],
    ['no user name', `Basic ${btoa(':secret')}`],
    ['no base64', 'Basic Aladdin:open'],
    ['missing padding', 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ'],
    ['octets that are not UTF-8', `Basic ${btoa('a:\xff')}`],
    ['a control character', basic('a', 'b\n')],
    ['NUL', basic('a\0', 'b')],
    ['two fields joined', `${basic('a', 'b')}, ${basic('a', 'b')}`],
    ['something behind', `${basic('a', 'b')} x`],
    ['more than 4096 octets', basic('a', 'b'.repeat(3100))],
  ])('with %s are unauthenticated', (_, field) => {
    expect(() => readBasicCredentials(field)).toThrow(expect.objectContaining({ code: 'unauthenticated' }));
  });

  test('are read as they were encoded, or are unauthenticated', () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 });
    fc.assert(
      fc.property(text, text, (username, password) => {
        const allowed = username !== '' && !/[\u0000-\u001f\u007f-\u009f]/.test(username + password);
        try {
          const read = readBasicCredentials(basic(username, password));
          expect(allowed).toBe(true);
          expect(`${read.username}:${read.password}`).toBe(`${username}:${password}`);
          expect(read.username).not.toContain(':');
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          expect(!allowed || username.startsWith(':')).toBe(true);
        }
      }),
      runs(300),
    );
  });
});
