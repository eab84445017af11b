import { expect, test } from 'bun:test';
import { parseRestPath } from '#adapters/inbound/rest/request.ts';

test.each([
  ['/plant/enroll', 'enrol', 'plant', undefined],
  ['/plant/enroll/', 'enrol', 'plant', undefined],
  ['/plant/tls_client/enroll', 'enrol', 'plant', 'tls_client'],
  ['/plant/reenroll', 'renew', 'plant', undefined],
  ['/plant/tls_client/reenroll/', 'renew', 'plant', 'tls_client'],
  ['/pl%C3%A4nt/tls%20client/enroll', 'enrol', 'plänt', 'tls client'],
  ['/enroll/enroll', 'enrol', 'enroll', undefined],
  ['/enroll/reenroll/enroll', 'enrol', 'enroll', 'reenroll'],
] as const)('%j requests to %s in domain %j with profile %j', (path, operation, domain, profile) => {
  expect(parseRestPath(path)).toEqual({ operation, domain, profile });
});

test.each([
  '',
  '/',
  '/enroll',
  '/plant',
  '/plant/Enroll',
  '/plant/tls/more/enroll',
  '//enroll',
  '/plant//enroll',
  '/plant/enroll//',
  '/a%2Fb/enroll',
  '/%zz/enroll',
])('%j is not a REST path', (path) => {
  expect(parseRestPath(path)).toBeUndefined();
});
