import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { der } from '#core/der/builder.ts';
import { demandChange } from '#core/enrolment/name-change.ts';
import type { Renewed } from '#core/enrolment/renewed.ts';
import type { ProfileOutcome } from '#core/profiles/apply.ts';
import type { Evidence } from '#core/requester/evidence.ts';
import { parseCertificate, subjectAltNamesOf } from '#core/x509/certificate.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { formatGeneralName, parseGeneralName } from '#core/x509/general-name.ts';
import { formatDistinguishedName, parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { ask, policy } from '#tests/fixtures/approvals.ts';
import { type Attribute, attributedRequest, changeSubjectName } from '#tests/fixtures/attributed-request.ts';
import { holder, type Installation, installation, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

const key = testKey('p-256', 'pump');
const ownName = 'CN=a.example';
const ownNames = ['DNS:a.example'];
let site: Installation;
let secret: Evidence;
let credential: Evidence;
let server: Evidence;

beforeAll(async () => {
  site = await installation();
  secret = password('pump-1', (await site.device('pump-1')).password);
  credential = holder(await site.enrol(secret, {}, request(key, 'CN=pump-1')));
  server = holder(await site.enrol(credential, { profile: 'tls_server' }, request(key, ownName, ownNames)));
});
afterAll(() => site[Symbol.asyncDispose]());

const namesOf = (certificate: Uint8Array): readonly string[] => {
  const parsed = parseCertificate(certificate);
  return [formatDistinguishedName(parsed.subject), ...subjectAltNamesOf(parsed).map(formatGeneralName)];
};

/** Renews the certificate of the server. */
const renew = async (change: Attribute, subject = ownName, names = ownNames): Promise<readonly string[]> =>
  namesOf(await site.enrol(server, {}, attributedRequest(key, subject, [change], names), 'renew'));

describe('a renewal with ChangeSubjectName (RFC 7030 §4.2.2)', () => {
  test.each<[string, Attribute, string[]]>([
    ['both names', changeSubjectName('CN=b.example', ['DNS:b.example']), ['CN=b.example', 'DNS:b.example']],
    ['another subject', changeSubjectName('CN=b.example,O=Plant'), ['CN=b.example,O=Plant', 'DNS:a.example']],
    [
      'other alternative names',
      changeSubjectName(undefined, ['DNS:a.example', 'DNS:c.example']),
      ['CN=a.example', 'DNS:a.example', 'DNS:c.example'],
    ],
  ])('gets %s when the profile allows it', async (_what, change, names) => {
    expect(await renew(change)).toEqual(names);
  });

  test('is rejected unless the names of the request are those of the certificate', async () => {
    const change = changeSubjectName('CN=b.example', ['DNS:b.example']);
    await expect(renew(change, 'CN=b.example')).rejects.toMatchObject({ code: 'badCsr' });
    await expect(renew(change, ownName, ['DNS:b.example'])).rejects.toMatchObject({ code: 'badCsr' });
  });

  test('is rejected when the profile does not allow the new subject', async () => {
    const der = attributedRequest(key, 'CN=pump-1', [changeSubjectName('CN=pump-2')]);
    await expect(site.enrol(credential, {}, der, 'renew')).rejects.toMatchObject({
      code: 'badCsr',
      detail: expect.stringContaining('pump-2'),
    });
  });

  test('is rejected when the profile would change other names', async () => {
    // Without alternative names, the profile makes one from the common name.
    const first = await site.enrol(credential, { profile: 'tls_server' }, request(key, ownName));
    expect(namesOf(first)).toEqual([ownName, 'DNS:a.example']);
    const der = attributedRequest(key, ownName, [changeSubjectName('CN=b.example')]);
    await expect(site.enrol(holder(first), {}, der, 'renew')).rejects.toMatchObject({
      code: 'forbidden',
      detail: 'the certificate profile does not allow this change of the subjectAltName',
    });
  });

  test('cannot get a name of the gateway', async () => {
    const change = changeSubjectName('CN=pki.example', ['DNS:pki.example']);
    await expect(renew(change)).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('is rejected for a certificate without a device', async () => {
    const { id } = await site.gateway.certificates.create(site.admin, {
      commonName: 'by-name',
      csr: request(key, 'CN=by-name'),
    });
    const { der: certificate } = (await site.store.get('certificate', id))!;
    const der = attributedRequest(key, 'CN=by-name', [changeSubjectName('CN=other')]);
    await expect(site.enrol(holder(certificate), {}, der, 'renew')).rejects.toMatchObject({
      code: 'forbidden',
      detail: 'the names cannot change: the certificate to be renewed was not issued to a device',
    });
  });

  test.each<[string, Attribute, string]>([
    ['empty', changeSubjectName(), 'badCsr'],
    [
      'without names',
      { type: oid.changeSubjectName, value: der((b) => b.sequence((s) => s.null())) },
      'malformed',
    ],
    [
      ' another type than SEQUENCE',
      { type: oid.changeSubjectName, value: der((b) => b.integer(1)) },
      'malformed',
    ],
  ])('is rejected when the attribute is %s', async (_what, change, code) => {
    await expect(renew(change)).rejects.toMatchObject({ code });
  });
});

describe('ChangeSubjectName outside a renewal', () => {
  const der = attributedRequest(key, 'CN=pump-1', [changeSubjectName('CN=pump-1,O=Plant')]);

  test.each(['domain_credential', 'tls_client'])(
    'is rejected for a new certificate of %s',
    async (profile) => {
      await expect(site.enrol(secret, { profile }, der)).rejects.toMatchObject({ code: 'badCsr' });
    },
  );

  test('is rejected with server-side key generation', async () => {
    const requester = await site.gateway.admit(credential, {
      protocol: 'est',
      domain: undefined,
      profile: undefined,
    });
    const pkcs10 = { kind: 'pkcs10', der, keyMadeHere: true } as const;
    await expect(
      site.gateway.enrol(requester, { operation: 'enrol', request: pkcs10 }),
    ).rejects.toMatchObject({ code: 'badCsr' });
  });

  test('is accepted when a domain credential is requested again, which is a renewal', async () => {
    const again = await site.enrol(credential, {}, der);
    expect(namesOf(again)).toEqual(['CN=pump-1,O=Plant']);
  });
});

test('a renewal with new names follows the policies for new certificates', async () => {
  const { id } = await policy(site, { decision: 'manual', operations: ['issuance'], protocols: ['est'] });
  const change = changeSubjectName('CN=d.example', ['DNS:d.example']);
  const changed = attributedRequest(key, ownName, [change], ownNames);
  expect((await ask(site, server, changed, {}, 'renew')).kind).toBe('pending');
  expect((await ask(site, server, request(key, ownName, ownNames), {}, 'renew')).kind).toBe('issued');
  await site.gateway.approvalPolicies.remove(site.admin, id);
});

describe('the names that the profile issues', () => {
  const name = parseDistinguishedName;
  const certificate = () =>
    parseCertificate((server as Extract<Evidence, { kind: 'certificate' }>).certificates[0]!);
  const outcome = (subject: string, names: readonly string[]): ProfileOutcome => ({
    subject: name(subject),
    extensions: names.length > 0 ? [subjectAltNameExtension(names.map(parseGeneralName))] : [],
    notBefore: 0,
    notAfter: 0,
    endless: false,
    explain: () => [],
  });

  test.each<
    [what: string, wanted: [string | undefined, string[]?], issued: [string, string[]], refused: string]
  >([
    ['may be the new ones', ['CN=b', ['DNS:b']], ['CN=b', ['DNS:b']], ''],
    ['may keep the subject', [undefined, ['DNS:b']], [ownName, ['DNS:b']], ''],
    ['may keep the alternative names', ['CN=b'], ['CN=b', ownNames], ''],
    ['must not keep the old subject', ['CN=b', ['DNS:b']], [ownName, ['DNS:b']], 'subject'],
    ['must not have a third subject', ['CN=b', ['DNS:b']], ['CN=c', ['DNS:b']], 'subject'],
    ['must not change a subject that is kept', [undefined, ['DNS:b']], ['CN=c', ['DNS:b']], 'subject'],
    ['must not keep old alternative names', ['CN=b', ['DNS:b']], ['CN=b', ownNames], 'subjectAltName'],
    ['must not add alternative names', ['CN=b'], ['CN=b', [...ownNames, 'DNS:b']], 'subjectAltName'],
    ['must not lose alternative names', ['CN=b'], ['CN=b', []], 'subjectAltName'],
  ])('%s', (_what, [subject, names], issued, refused) => {
    const change = {
      subject: subject === undefined ? undefined : name(subject),
      subjectAltNames: names?.map(parseGeneralName),
    };
    const check = () => demandChange(change, { certificate: certificate() } as Renewed, outcome(...issued));
    if (refused === '') check();
    else expect(check).toThrow(`does not allow this change of the ${refused}`);
  });
});
