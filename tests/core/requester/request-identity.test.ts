import { expect, test } from 'bun:test';
import { type RequestIdentity, requestDigest } from '#core/requester/request-identity.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { testKey } from '#tests/fixtures/keys.ts';

const names = (...texts: string[]) => subjectAltNameExtension(texts.map(parseGeneralName));

const identity: RequestIdentity = {
  requester: 'password device:7',
  protocol: 'est',
  operation: 'issuance',
  domain: 1,
  profile: 2,
  renews: null,
  subject: parseDistinguishedName('CN=pump-7'),
  extensions: [names('DNS:pump-7')],
  key: testKey('p-256', 'pump').publicKey,
};

const others: Partial<RequestIdentity>[] = [
  { requester: 'password device:71' },
  { protocol: 'rest' },
  { operation: 'renewal' },
  { domain: 2 },
  { profile: 3 },
  { renews: 1 },
  { subject: parseDistinguishedName('CN=pump-8') },
  { extensions: [] },
  { extensions: [names('DNS:pump-8')] },
  { extensions: [{ ...names('DNS:pump-7'), critical: true }] },
  { key: testKey('p-256', 'another').publicKey },
  { key: 'p-256' },
  { key: 'p-384' },
];

test('equal requests have one digest, and every difference changes it', () => {
  const digest = requestDigest(identity);
  expect(digest).toMatch(/^[0-9A-F]{64}$/);
  expect(requestDigest({ ...identity })).toBe(digest);
  const digests = others.map((other) => requestDigest({ ...identity, ...other }));
  expect(new Set([digest, ...digests]).size).toBe(others.length + 1);
});
