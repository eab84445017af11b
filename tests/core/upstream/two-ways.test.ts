import { expect, test } from 'bun:test';
import { extendedKeyUsageOf, fingerprint, parseCertificate } from '#core/x509/certificate.ts';
import { extendedKeyUsageExtension, keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { oid } from '#core/x509/oids.ts';
import { certsOnly, estUpstream } from '#tests/fixtures/est-upstream.ts';
import { installation, offer, request, testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { plant, pumpRequest, remoteEst } from '#tests/fixtures/plant.ts';

const wish = pumpRequest(testKey('p-256', 'pump'));

test('two issuers may use two labels of one upstream CA, but an issuer is a CA only once', async () => {
  const clock = testClock();
  await using upstream = await estUpstream(clock.now);
  const trust = { kind: 'fingerprint', sha256: fingerprint(upstream.root) } as const;
  const url = `https://localhost:${upstream.port}/.well-known/est`;
  await using site = await installation({
    clock,
    issuers: (own) => new Map(['one', 'two'].map((name) => [name, remoteEst(own, { name, url, trust })])),
  });
  const { gateway, admin } = site;
  const create = (uniqueName: string, issuer: string) =>
    gateway.issuingCas.create(admin, { uniqueName, type: 4, issuer });
  const [one, two] = [await create('one', 'one'), await create('two', 'two')];
  expect(two.certificate).toEqual(one.certificate);
  expect(await create('again', 'two').catch((fault) => fault)).toMatchObject({ code: 'conflict' });
  for (const { id } of [one, two]) {
    const { password: secret } = await site.device(`pump-${id}`);
    await gateway.domains.update(admin, 1, { issuingCa: id });
    const evidence = { kind: 'password', username: `pump-${id}`, password: secret, address: '' } as const;
    const target = { protocol: 'est', domain: undefined, profile: undefined } as const;
    const requester = await gateway.admit(evidence, target);
    const der = request(testKey('p-256', `pump-${id}`), `CN=pump-${id}`);
    const made = await gateway.enrol(requester, { operation: 'enrol', request: { kind: 'pkcs10', der } });
    if (made.kind !== 'issued') throw new Error('not issued');
    const record = await site.store.find('certificate', { fingerprint: fingerprint(made.certificate) });
    expect(record?.ca).toBe(id);
  }
});

test('the upstream CA decides the key usages of profile upstream_device', async () => {
  await using one = await plant();
  await offer(one.service, 'upstream_device');
  const extensions = [
    keyUsageExtension(['digitalSignature']),
    extendedKeyUsageExtension([oid.clientAuth, oid.serverAuth]),
  ];
  one.upstream.always((request) => certsOnly(one.upstream.certify(request, { extensions })));
  const ask = async (profile: string) => {
    const target = { protocol: 'est', domain: undefined, profile } as const;
    const requester = await one.service.gateway.admit(one.evidence, target);
    return one.service.gateway.enrol(requester, {
      operation: 'enrol',
      request: { kind: 'pkcs10', der: wish },
    });
  };
  expect(await ask('domain_credential').catch((fault) => fault)).toMatchObject({ code: 'unavailable' });
  const made = await ask('upstream_device');
  if (made.kind !== 'issued') throw new Error('not issued');
  expect(extendedKeyUsageOf(parseCertificate(made.certificate))).toEqual([oid.clientAuth, oid.serverAuth]);
});
