import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { credentialType } from '#core/records/credential.ts';
import { parseCertificate, subjectAltNamesOf } from '#core/x509/certificate.ts';
import { formatGeneralName } from '#core/x509/general-name.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

let site: Installation;

beforeAll(async () => {
  site = await installation();
});
afterAll(() => site[Symbol.asyncDispose]());

describe('the certificate of a new TLS server credential', () => {
  test.each<[what: string, names: readonly string[], expected: readonly string[]]>([
    ['has the name that the profile makes if none is requested', [], ['DNS:a.example']],
    ['has one requested name', ['DNS:b.example'], ['DNS:b.example']],
    ['has all requested names', ['DNS:b.example', 'DNS:c.example'], ['DNS:b.example', 'DNS:c.example']],
  ])('%s', async (_what, names, expected) => {
    const { id } = await site.gateway.credentials.create(site.admin, {
      type: credentialType.tlsServer,
      commonName: 'a.example',
      names,
    });
    const { certificate } = (await site.store.get('credential', id))!;
    const parsed = parseCertificate(certificate);
    expect(formatDistinguishedName(parsed.subject)).toBe('CN=a.example');
    expect(subjectAltNamesOf(parsed).map(formatGeneralName)).toEqual([...expected]);
  });
});
