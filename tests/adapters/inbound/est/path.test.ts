import { expect, test } from 'bun:test';
import { parseEstPath } from '#adapters/inbound/est/path.ts';

const op = 'simpleenroll';

test.each([
  [`/${op}`, undefined, undefined],
  [`/${op}/`, undefined, undefined],
  [`/~tls_client/${op}`, undefined, 'tls_client'],
  [`/%7Etls_client/${op}/`, undefined, 'tls_client'],
  [`/~~x/${op}`, undefined, '~x'],
  [`/plant/${op}`, 'plant', undefined],
  [`/plant/tls_client/${op}`, 'plant', 'tls_client'],
  [`/plant/~tls_client/${op}`, 'plant', 'tls_client'],
  [`/pl%C3%A4nt/tls%20client/${op}/`, 'plänt', 'tls client'],
  [`/${op}/${op}`, op, undefined],
  [`/cacerts/${op}/${op}`, 'cacerts', op],
])('%j names domain %j and profile %j', (path, domain, profile) => {
  expect(parseEstPath(path)).toEqual({ operation: op, domain, profile });
});

test.each([
  '',
  '/',
  `//${op}`,
  `/~/${op}`,
  `/plant/~/${op}`,
  `/~tls/plant/${op}`,
  `/~tls/~tls/${op}`,
  `/a/b/c/${op}`,
  `/a%2Fb/${op}`,
  `/a%00/${op}`,
  `/%/${op}`,
  `/${op}//`,
])('%j is not an EST path', (path) => {
  expect(parseEstPath(path)).toBeUndefined();
});
