import { describe, expect, test } from 'bun:test';
import { Fault } from '#core/fault.ts';
import { demandNoOwnName } from '#core/issuance/own-names.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { extendedKeyUsageExtension } from '#core/x509/extensions/usage.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { answer, certsOnly } from '#tests/fixtures/est-upstream.ts';
import { installation, offer, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { plant } from '#tests/fixtures/plant.ts';

const names = [
  'pki.example',
  'gw',
  '192.0.2.1',
  '10.0.0.5',
  '2001:db8::1',
  '2001:db8::7f00:5',
  '::ffff:192.0.2.9',
  'localhost',
  '127.0.0.1',
  '::1',
];
const server = [oid.serverAuth];

const isRefused = (subject: string, sans: readonly string[], purposes: readonly string[]): boolean => {
  const certificate = {
    subject: parseDistinguishedName(subject),
    extensions: [
      ...(sans.length > 0 ? [subjectAltNameExtension(sans.map(parseGeneralName))] : []),
      ...(purposes.length > 0 ? [extendedKeyUsageExtension(purposes)] : []),
    ],
  };
  try {
    demandNoOwnName(names, certificate);
    return false;
  } catch (error) {
    expect(error).toMatchObject({
      code: 'forbidden',
      detail: expect.stringContaining('of this Postern service'),
    });
    return true;
  }
};

describe('a name of this service', () => {
  const rows: [subject: string, sans: string[], refused: boolean][] = [
    ['CN=x', ['DNS:PKI.example'], true],
    ['CN=x', ['DNS:*.example'], true],
    ['CN=*', [], true],
    ['CN=x', ['DNS:10.0.0.5'], true],
    ['CN=x', ['IP:10.0.0.5'], true],
    ['CN=x', ['IP:::ffff:10.0.0.5'], true],
    ['CN=x', ['IP:::10.0.0.5'], true],
    ['CN=x', ['IP:10.0.0.5/255.0.0.0'], true],
    ['CN=x', ['IP:2001:db8:0::1'], true],
    ['CN=pki.example', [], true],
    ['CN=PKI.example.', [], true],
    ['CN= pki.example', ['DNS:x.example.org'], true],
    ['CN=pk*.example', [], true],
    ['CN=*ki.example', [], true],
    ['CN=p*i.example', [], true],
    ['CN=10.0.0.5', [], true],
    ['CN=::ffff:10.0.0.5', [], true],
    ['CN=[2001:DB8::1]', [], true],
    ['CN=x,CN=gw', [], true],
    ['CN=gw,CN=x', [], true],
    ['CN=x+CN=gw', [], true],
    ['O=gw,CN=x', [], false],
    ['CN=x', ['DNS:x.example', 'IP:10.0.0.6', 'IP:::ffff:10.0.0.6'], false],
    ['CN=x', ['DNS:*.pki.example'], false],
    ['CN=x', ['URI:https://pki.example'], false],
    ['CN=x', ['IP:2001:db8::7f00:5'], true],
    ['CN=x', ['IP:192.0.2.9'], true],
    ['CN=x', ['IP:2001:db8::7f00:6', 'IP:192.0.2.8'], false],
    ['CN=pki*.example', [], true],
    ['CN=pki*pki.example', [], false],
    ['CN=p*k*i.example', [], true],
    ['CN=*.example.org', [], false],
    ['CN=g', [], false],
    ['CN=gw.', [], true],
    ['CN=g*', [], true],
    ['CN=[10.0.0.5]', [], true],
    ['CN=[10.0.0.5', [], false],
    ['CN=q*.example', [], false],
    ['CN=gateway', ['DNS:gw.example'], false],
    ['CN=localhost', ['DNS:localhost', 'IP:127.0.0.1', 'IP:::1', 'IP:::ffff:127.0.0.1'], false],
  ];
  test.each(rows)('in %s with %p: %p', (subject, sans, refused) => {
    expect(isRefused(subject, sans, server)).toBe(refused);
    expect(isRefused(subject, sans, [oid.clientAuth])).toBe(false);
  });

  test.each([
    [[], true],
    [[oid.anyExtendedKeyUsage], true],
    [[oid.clientAuth, oid.serverAuth], true],
    [['2.16.840.1.113730.4.1'], true],
    [['1.3.6.1.4.1.311.10.3.3'], true],
    [[oid.codeSigning], false],
  ])('for the purposes %p: %p', (purposes, refused) => {
    expect(isRefused('CN=x', ['DNS:pki.example'], purposes)).toBe(refused);
  });
});

const key = testKey('p-256');
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'issued',
    (error: unknown) => (error instanceof Fault ? error.code : String(error)),
  );

describe('a server certificate for a name of this service is rejected', () => {
  const sans = ['IP:::ffff:192.0.2.1'];

  test('over the Management API, with a request and with a server-generated key', async () => {
    await using site = await installation();
    const { gateway, admin } = site;
    const { records } = await gateway.profiles.list(admin, { limit: 100 });
    const profile = records.find(({ uniqueName }) => uniqueName === 'tls_server')!.id;
    const create = (commonName: string, csr?: Uint8Array) =>
      codeOf(gateway.certificates.create(admin, { commonName, profile, ...(csr && { csr }) }));
    expect(await create('pki.example')).toBe('forbidden');
    expect(await create('x', request(key, 'CN=x', ['DNS:pki.example']))).toBe('forbidden');
    expect(await create('x', request(key, 'CN=x', sans))).toBe('forbidden');
    expect(await create('x', request(key, 'CN=x', ['DNS:x.example']))).toBe('issued');
    expect(await site.keys.files!.list()).toHaveLength(3);
  });

  test('for a device, with several common names and with a server-generated key', async () => {
    await using site = await installation();
    const { gateway, admin } = site;
    await gateway.profiles.create(admin, {
      uniqueName: 'loose',
      profile: {
        validity: { duration: 'P1Y' },
        subject: { CN: { most: 3 } },
        subjectAltName: { dns: { most: 3 }, ip: { most: 3 } },
        extensions: { extendedKeyUsage: { fixed: ['serverAuth'] } },
      },
    });
    await offer(site, 'loose');
    const { password: secret } = await site.device('pump-1');
    const enrol = async (subject: string, keyMadeHere: boolean, names: readonly string[] = []) => {
      const target = { protocol: 'est', domain: undefined, profile: 'loose' } as const;
      const requester = await gateway.admit(password('pump-1', secret), target);
      const wanted = { kind: 'pkcs10', der: request(key, subject, names), keyMadeHere } as const;
      return codeOf(gateway.enrol(requester, { operation: 'enrol', request: wanted }));
    };
    for (const keyMadeHere of [false, true]) {
      expect(await enrol('CN=pki.example,CN=x', keyMadeHere)).toBe('forbidden');
      expect(await enrol('CN=x,CN=pki.example', keyMadeHere)).toBe('forbidden');
      expect(await enrol('CN=x', keyMadeHere, sans)).toBe('forbidden');
      expect(await enrol('CN=x,CN=y', keyMadeHere)).toBe('issued');
    }
  });

  test('before an upstream CA is called', async () => {
    await using one = await plant();
    one.upstream.received.length = 0;
    const target = { protocol: 'est', domain: undefined, profile: 'tls_server' } as const;
    const requester = await one.service.gateway.admit(one.evidence, target);
    const wanted = { kind: 'pkcs10', der: request(key, 'CN=pump-1', ['DNS:pki.example']) } as const;
    expect(await codeOf(one.service.gateway.enrol(requester, { operation: 'enrol', request: wanted }))).toBe(
      'forbidden',
    );
    expect(one.upstream.received).toEqual([]);
  });

  test('when the name became one of the service while the request was pending at the upstream CA', async () => {
    await using one = await plant();
    const { gateway, clock, admin } = one.service;
    const rules = { validity: { duration: 'P1Y' }, subject: { CN: {} }, subjectAltName: { dns: {} } };
    await gateway.profiles.create(admin, { uniqueName: 'without purposes', profile: rules });
    await offer(one.service, 'without purposes');
    const later = await one.service.restarted({ serverNames: ['pump-1.plant.example'] });
    const target = { protocol: 'est', domain: undefined, profile: 'without purposes' } as const;
    const wanted = { kind: 'pkcs10', der: request(key, 'CN=pump-1', ['DNS:pump-1.plant.example']) } as const;
    const ask = async () =>
      gateway.enrol(await gateway.admit(one.evidence, target), { operation: 'enrol', request: wanted });
    one.upstream.script(() => answer(202, '', { 'retry-after': '1' }));
    expect((await ask()).kind).toBe('pending');
    const extensions = [subjectAltNameExtension([parseGeneralName('DNS:pump-1.plant.example')])];
    one.upstream.script((request) => certsOnly(one.upstream.certify(request, { extensions })));
    clock.advance(5000);
    await later.maintain('test');
    expect((await one.requests()).map(({ state, code }) => [state, code])).toEqual([['failed', 'forbidden']]);
    expect(await codeOf(ask())).toBe('forbidden');
  });
});
