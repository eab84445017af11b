import { describe, expect, test } from 'bun:test';
import { enrolmentEvidence } from '#adapters/inbound/http/enrolment.ts';
import { mediaType } from '#adapters/inbound/http/header.ts';
import { httpRequest, knownBasic } from '#tests/fixtures/enrolment.ts';

const certificates = [Uint8Array.of(1), Uint8Array.of(2)];

describe('evidence', () => {
  test.each([
    ['enrol', 'a password', knownBasic, [], 'password'],
    ['enrol', 'a certificate', undefined, certificates, 'certificate'],
    ['enrol', 'a password and a certificate', knownBasic, certificates, 'password'],
    ['enrol', 'nothing', undefined, [], 'none'],
    ['renew', 'a password', knownBasic, [], 'none'],
    ['renew', 'a certificate', undefined, certificates, 'certificate'],
    ['renew', 'a password and a certificate', knownBasic, certificates, 'certificate'],
    ['renew', 'another scheme and a certificate', 'Bearer x', certificates, 'certificate'],
    ['renew', 'nothing', undefined, [], 'none'],
  ] as const)('to %s with %s', (operation, _, authorization, chain, kind) => {
    const evidence = enrolmentEvidence(httpRequest({ headers: { authorization } }, chain), operation);
    expect(evidence.kind).toBe(kind);
    expect(evidence.address).toBe('192.0.2.1');
    if (evidence.kind === 'certificate') expect(evidence.certificates).toBe(chain);
  });

  test('an Authorization field other than Basic does not fall back to the certificate', () => {
    const request = httpRequest({ headers: { authorization: 'Bearer x' } }, certificates);
    expect(() => enrolmentEvidence(request, 'enrol')).toThrow(
      expect.objectContaining({ code: 'unauthenticated' }),
    );
  });
});

test.each([
  ['application/json', 'application/json'],
  ['Application/JSON ; charset=utf-8', 'application/json'],
  ['a/b, c/d', 'a/b, c/d'],
  ['', ''],
])('the media type of %j is %j', (field, type) => {
  expect(mediaType(field)).toBe(type);
});
