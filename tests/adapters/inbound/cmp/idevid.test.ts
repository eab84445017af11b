import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { hash } from 'node:crypto';
import { readExtraCerts } from '#adapters/wire/cmp/extra-certs.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { parseCertTemplate } from '#core/x509/crmf.ts';
import { buildCertTemplate } from '#core/x509/crmf-builder.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { type CmpCredential, cr, crmf, failureOf, ir, issued } from '#tests/fixtures/cmp-client.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { idevid, makerCa, register, trust } from '#tests/fixtures/manufacturer.ts';
import { type CmpSite, cmpSite } from './fixture.ts';

// Messages signed by an IDevID (RFC 9483 §4.1.1), which request a certificate for another key.
const root = makerCa('CN=Acme Root,O=Acme');
const issuing = makerCa('CN=Acme Issuing,O=Acme', root);
const key = testKey('p-256', 'idevid');
const ldevid = testKey('p-256', 'ldevid');
const pump: CmpCredential = {
  certificate: idevid(key, issuing, 'CN=Pump 3000,serialNumber=SN-1'),
  key,
  chain: [issuing.certificate],
};
const asked = ir(crmf(ldevid, { subject: 'CN=SN-1' }));

let site: CmpSite;
let truststore: number;
beforeEach(async () => {
  site = await cmpSite();
  truststore = await trust(site, 'acme', root.certificate);
});
afterEach(() => site[Symbol.asyncDispose]());

async function status(): Promise<number | undefined> {
  const device = await site.store.find('device', { serialNumber: 'SN-1' });
  return (await site.store.get('onboardingConfig', device!.onboardingConfig!))?.onboardingStatus;
}

const confirmation = (certificate: Uint8Array) =>
  ({
    type: 'certConf',
    statuses: [{ certHash: hash('sha256', certificate, 'buffer'), certReqId: 0 }],
  }) as const;

describe('a message that an IDevID signed', () => {
  test('gets a domain credential, and confirms it with the same signature', async () => {
    await register(site, 'pumps', truststore);
    const client = site.client(pump);
    const certificate = issued(await client.send(asked));
    expect(formatDistinguishedName(parseCertificate(certificate).subject)).toBe('CN=SN-1');
    expect(await status()).toBe(2);
    expect(failureOf(await client.send(confirmation(certificate)))).toBe('pkiConf');
    expect(failureOf(await client.fresh().send(asked))).toBe('notAuthorized');
    const own = site.client({ certificate, key: ldevid });
    const application = cr(crmf(ldevid, { subject: 'CN=SN-1' }));
    expect(issued(await own.send(application, { path: '/p/~tls_client' })).length).toBeGreaterThan(300);
  });

  test('gets the same response when it is repeated', async () => {
    await register(site, 'pumps', truststore);
    const client = site.client(pump);
    const answer = await client.send(asked, { implicitConfirm: true });
    expect(await client.post(client.sent)).toEqual(answer.der);
  });

  test('gets no trust anchor: that requires protection by a secret', async () => {
    await register(site, 'pumps', truststore);
    const signed = (await site.client(pump).send(asked, { implicitConfirm: true })).body;
    const bySecret = await site
      .client(await site.cmpDevice('pump-2'))
      .send(ir(crmf(ldevid, { subject: 'CN=pump-2' })));
    const anchors = [signed, bySecret.body].map((body) => (body.type === 'ip' ? body.caPubs : undefined));
    const root = (await site.gateway.caCertificates(undefined)).at(-1)!;
    expect(anchors).toEqual([[], [root]]);
  });

  const withoutConfirmation = { implicitConfirm: true };

  test('gets the same certificate in other transactions, also concurrently, when no confirmation is needed', async () => {
    await register(site, 'pumps', truststore);
    const clients = Array.from({ length: 4 }, () => site.client(pump));
    const answers = await Promise.all(clients.map((client) => client.send(asked, withoutConfirmation)));
    const [certificate, ...others] = answers.map(issued);
    expect(others).toEqual([certificate!, certificate!, certificate!]);
    for (const [n, client] of clients.entries()) {
      expect(await client.post(client.sent)).toEqual(answers[n]!.der);
      expect(failureOf(await client.send(confirmation(certificate!)))).toBe('certConfirmed');
    }
    site.clock.advance(700_000);
    await site.gateway.maintain('test');
    const { records } = await site.gateway.certificates.list(site.admin, { search: ['SN-1'], limit: 9 });
    expect([await status(), ...records.map((record) => record.status)]).toEqual([2, 'good']);
  });

  // A certificate without confirmation is revoked, whichever transaction got it.
  const mixed: [first: object, second: object][] = [
    [withoutConfirmation, {}],
    [{}, withoutConfirmation],
    [{}, {}],
  ];
  test.each(mixed)(
    'is rejected in another transaction when one of them has a confirmation: %o, then %o',
    async (first, second) => {
      await register(site, 'pumps', truststore);
      const client = site.client(pump);
      const certificate = issued(await client.send(asked, first));
      expect(failureOf(await client.fresh().send(asked, second))).toBe('notAuthorized');
      const { records } = await site.gateway.certificates.list(site.admin, { search: ['SN-1'], limit: 9 });
      expect(records.map(({ der, status }) => [der, status])).toEqual([[certificate, 'good']]);
    },
  );

  test('gets a certificate with the name of the device here when it requests another name', async () => {
    await register(site, 'pumps', truststore);
    const answer = await site.client(pump).send(ir(crmf(ldevid, { subject: 'CN=Pump 3000' })));
    expect(formatDistinguishedName(parseCertificate(issued(answer)).subject)).toBe('CN=SN-1');
    expect('responses' in answer.body && answer.body.responses[0]).toMatchObject({
      status: { status: 'grantedWithMods' },
    });
  });

  test('can be repeated when the certificate was rejected or never confirmed', async () => {
    await register(site, 'pumps', truststore);
    const client = site.client(pump);
    await client.send(asked);
    expect(failureOf(await client.send({ type: 'certConf', statuses: [] }))).toBe('pkiConf');
    expect(await status()).toBe(1);

    await client.fresh().send(asked);
    expect(await status()).toBe(2);
    site.clock.advance(700_000);
    await site.gateway.maintain('test');
    expect(await status()).toBe(1);

    const certificate = issued(await client.fresh().send(asked));
    expect(failureOf(await client.send(confirmation(certificate)))).toBe('pkiConf');
    expect((await site.audit('device.await')).length).toBe(2);
    const { records } = await site.gateway.certificates.list(site.admin, { search: ['SN-1'], limit: 9 });
    expect(records.map((record) => record.status)).toEqual(['good', 'revoked', 'revoked']);
  });

  test('leaves the device onboarded with its second certificate when the first was never confirmed', async () => {
    await register(site, 'pumps', truststore);
    await site.client(pump).send(asked);
    const device = await site.store.find('device', { serialNumber: 'SN-1' });
    await site.gateway.devices.resetOnboarding(site.admin, device!.id);
    await site.client(pump).send(asked, { implicitConfirm: true });
    site.clock.advance(700_000);
    await site.gateway.maintain('test');
    expect(await status()).toBe(2);
  });

  test('cannot revoke or renew', async () => {
    await register(site, 'pumps', truststore);
    const certificate = issued(await site.client(pump).send(asked, { implicitConfirm: true }));
    const { issuer, serial } = parseCertificate(certificate);
    const certDetails = parseCertTemplate(buildCertTemplate({ issuer, serial }));
    const rr = { type: 'rr', requests: [{ certDetails, crlEntryDetails: [] }] } as const;
    expect(failureOf(await site.client(pump).send(rr))).toBe('notAuthorized');
    const kur = {
      type: 'kur',
      requests: [crmf(ldevid, { subject: 'CN=SN-1', renews: certificate })],
    } as const;
    expect(failureOf(await site.client(pump).send(kur))).toBe('notAuthorized');
  });

  test('is not trusted without its chain or without a registration', async () => {
    expect(failureOf(await site.client(pump).send(asked))).toBe('signerNotTrusted');
    await register(site, 'pumps', truststore);
    expect(failureOf(await site.client({ ...pump, chain: [] }).send(asked))).toBe('signerNotTrusted');
  });

  test('without a domain is answered by the domain that accepts it', async () => {
    const { gateway, admin } = site;
    const { id: issuingCa } = await gateway.issuingCas.create(admin, {
      uniqueName: 'hall',
      type: 1,
      keyType: 'p-256',
      commonName: 'Issuing CA of the hall',
    });
    const hall = await gateway.domains.create(admin, { uniqueName: 'hall', issuingCa });
    await register(site, 'pumps', truststore, '.*', hall.id);
    const answer = await site.client(pump).send(asked, { implicitConfirm: true });
    const { signer } = readExtraCerts(answer);
    const certificate = parseCertificate(issued(answer));
    expect(formatDistinguishedName(signer.issuer)).toBe(formatDistinguishedName(certificate.issuer));
    expect(formatDistinguishedName(certificate.issuer)).toContain('hall');
    expect(failureOf(await site.client(pump).send(asked, { path: '/p/default' }))).toBe('notAuthorized');
  });
});
