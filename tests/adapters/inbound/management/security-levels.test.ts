import { describe, expect, test } from 'bun:test';
import { parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import { levels, securityLevels, usualLevel } from '#core/security/levels.ts';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { CmpClient, cmpServer, cr, crmf, failureOf, issued } from '#tests/fixtures/cmp-client.ts';
import {
  type Installation,
  installation,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { selfSigned } from '#tests/fixtures/outside-ca.ts';

const settings = '/api/settings/';
const raise = (api: Api, security_level: string) => api.patch(settings, { security_level });

async function within(work: (api: Api, site: Installation) => Promise<void>): Promise<void> {
  await using site = await installation();
  await work(await apiOf(site), site);
}

test('a new installation has the default level, and lists what prevents the others', () =>
  within(async (api) => {
    expect((await api.get(settings)).body.security_level).toBe(usualLevel);
    const { body } = await api.get(`${settings}security-levels/`);
    const told = body.map((one: Record<string, unknown>) => [one.level, one.is_current, one.obstacles]);
    const issuing = {
      collection: 'issuing-cas',
      id: 2,
      unique_name: 'issuing',
      detail:
        'the security level critical does not allow p-256 keys for a CA; the security level critical does not allow the signature algorithm ecdsa-sha256',
    };
    expect(told).toEqual(
      securityLevels.map((level) => [level, level === usualLevel, level === 'critical' ? [issuing] : []]),
    );
  }));

test('a level can be raised only when CAs and profiles satisfy it', () =>
  within(async (api, site) => {
    const { body: long } = await api.post('/api/cert-profiles/', {
      unique_name: 'long',
      profile: { validity: { duration: 'P40Y' }, subject: { CN: {} } },
    });
    const { body: domain } = await api.get('/api/domains/1/');
    const offered = [...domain.profiles, { profile: long.id, alias: 'forty' }];
    await api.patch('/api/domains/1/', { profiles: offered });
    const refused = await raise(api, 'critical');
    expect([refused.status, refused.body]).toEqual([
      409,
      {
        detail:
          'the security level critical cannot be set yet: ' +
          'issuing: the security level critical does not allow p-256 keys for a CA; ' +
          'the security level critical does not allow the signature algorithm ecdsa-sha256; ' +
          'long: /validity/duration: the security level critical allows a validity period of at most 2 years for an end entity',
        code: 'security_level_not_met',
        values: { level: 'critical' },
        hint: expect.stringContaining('/api/settings/security-levels/'),
      },
    ]);
    expect((await api.get(settings)).body.security_level).toBe(usualLevel);
    await api.patch('/api/domains/1/', { profiles: domain.profiles });
    const ca = { unique_name: 'strong', issuing_ca_type: 1, key_type: 'p-384', parent: 1 };
    const { body: strong } = await api.post('/api/issuing-cas/', ca);
    await api.patch('/api/domains/1/', { issuing_ca: strong.id });
    await api.call('POST', '/api/issuing-cas/2/deactivate/');
    expect((await raise(api, 'critical')).body.security_level).toBe('critical');
    expect((await site.audit('settings.update')).map(({ detail }) => detail)).toEqual([
      { securityLevel: 'critical' },
    ]);
    // Records that do not satisfy the level are rejected from now on.
    expect((await api.call('POST', '/api/issuing-cas/2/activate/')).status).toBe(409);
    expect(Object.keys((await api.patch('/api/domains/1/', { profiles: offered })).body)).toEqual([
      'profiles',
    ]);
    expect((await api.post('/api/certificates/', { common_name: 'fine' })).status).toBe(201);
    // A level can be lowered at any time.
    expect((await raise(api, 'lab')).status).toBe(200);
    expect((await api.call('POST', '/api/issuing-cas/2/activate/')).status).toBe(200);
  }));

test('every gateway uses a new level within a second', async () => {
  const clock = testClock();
  await using site = await installation({ clock });
  await using other = await installation({ store: site.store, clock });
  const { password: secret } = await other.device('pump-1');
  await raise(await apiOf(site), 'hardened');
  clock.advance(1001);
  const der = request(testKey('rsa-2048', 'level'), 'CN=pump-1');
  await expect(other.enrol(password('pump-1', secret), {}, der)).rejects.toMatchObject({
    code: 'badAlgorithm',
    detail: 'the security level hardened requires RSA keys of at least 3072 bits for an end entity, not 2048',
  });
});

describe('the level applies to', () => {
  test('profiles', () =>
    within(async (api) => {
      await raise(api, 'hardened');
      const profile = {
        validity: { until: '9999-12-31T23:59:59Z' },
        keys: { allowed: ['p-256', 'rsa-2048'] },
      };
      const { status, body } = await api.post('/api/cert-profiles/', { unique_name: 'weak', profile });
      expect([status, body]).toEqual([
        400,
        {
          profile: [
            '/keys/allowed/1: the security level hardened requires RSA keys of at least 3072 bits for an end entity, not 2048',
            '/validity/until: the security level hardened allows a validity period of at most 5 years for an end entity',
          ],
        },
      ]);
      const { body: idevid } = await api.get('/api/cert-profiles/?unique_name=idevid');
      const at = `/api/cert-profiles/${idevid[0].id}/`;
      expect((await api.patch(at, { profile: idevid[0].profile })).status).toBe(400);
      expect((await api.patch(at, { unique_name: 'makers' })).status).toBe(200);
    }));

  test('CAs, generated and imported', async () => {
    // OpenSSL verifies at the current time only.
    await using site = await installation({ clock: testClock(Date.now() + 60_000) });
    const api = await apiOf(site);
    await raise(api, 'hardened');
    const root = { unique_name: 'r', issuing_ca_type: 0 };
    const rsa = testKey('rsa-2048', 'level');
    const outside = {
      unique_name: 'o',
      issuing_ca_type: 2,
      certificate: selfSigned(rsa.pem(), '/CN=Old Root'),
      private_key: rsa.pem(),
    };
    for (const [input, field] of [
      [{ ...root, key_type: 'rsa-2048' }, 'key_type'],
      [{ ...root, validity: 'P21Y' }, 'validity'],
      [outside, 'certificate'],
    ] as const) {
      const { status, body } = await api.post('/api/issuing-cas/', input);
      expect([status, Object.keys(body)]).toEqual([400, [field]]);
      expect(body[field][0]).toStartWith('the security level hardened ');
    }
    expect((await api.post('/api/issuing-cas/', { ...root, validity: 'P20Y' })).status).toBe(201);
    await raise(api, 'lab');
    for (const input of [
      { ...root, unique_name: 'r2', validity: 'P99Y' },
      { ...root, unique_name: 'r3', key_type: 'rsa-2048' },
    ])
      expect((await api.post('/api/issuing-cas/', input)).status).toBe(201);
  });

  test('each certificate, whatever its profile says', () =>
    within(async (api, site) => {
      await raise(api, 'hardened');
      const { body: profiles } = await api.get('/api/cert-profiles/?unique_name=tls_client');
      const { id, profile } = profiles[0];
      const set = { profile: { ...profile, validity: { duration: 'P6Y' } } };
      await site.store.commit([{ op: 'update', kind: 'profile', id, set }]);
      site.clock.advance(1001);
      const answer = await api.post('/api/certificates/', { common_name: 'six years' });
      const detail =
        'the security level hardened allows a validity period of at most 5 years for an end entity';
      expect([answer.status, answer.body]).toEqual([409, { detail, code: 'security_level' }]);
      const csr = Buffer.from(request(testKey('rsa-2048', 'level'), 'CN=x')).toString('base64');
      const { body } = await api.post(`/api/cert-profiles/${id}/preview/`, { csr });
      expect([body.security_level, body.objections.map((one: { by: string }) => one.by)]).toEqual([
        'hardened',
        ['securityLevel', 'securityLevel'],
      ]);
    }));
});

describe('the level decides whether clients can use', () => {
  test('passwords', () =>
    within(async (api, site) => {
      const { password: secret } = await site.device('pump-1');
      const enrol = (protocol: 'est' | 'rest') =>
        site.enrol(password('pump-1', secret), { protocol }, request(testKey('p-256', 'level'), 'CN=pump-1'));
      for (const protocol of ['est', 'rest'] as const)
        expect((await enrol(protocol)).length).toBeGreaterThan(0);
      await raise(api, 'hardened');
      expect((await enrol('est')).length).toBeGreaterThan(0);
      await expect(enrol('rest')).rejects.toMatchObject({
        code: 'forbidden',
        detail: 'the security level hardened does not allow passwords over REST: use a client certificate',
      });
      await enrol('rest').catch(() => {});
      expect((await site.audit('enrolment.admit')).at(-1)).toMatchObject({
        outcome: 'refused',
        detail: { protocol: 'rest', reason: expect.stringContaining('security level hardened') },
      });
      expect(levels.hardened.sharedSecrets.rest).toBe(false);
    }));

  test('shared secrets of CMP, with TLS and without', () =>
    within(async (api, site) => {
      const { device } = await site.device('pump-1');
      const config = await site.gateway.noOnboardingConfigs.read(site.admin, device.noOnboardingConfig!);
      const { mount } = cmpServer(site.gateway, site.clock);
      const ask = async (secure: boolean) => {
        const credential = { reference: 'pump-1', secret: config.cmpSharedSecret! };
        const through: typeof mount = {
          ...mount,
          handle: (message) => mount.handle({ ...message, peer: { ...message.peer, secure } }),
        };
        const octets = await new CmpClient(through, credential).build(cr(crmf(testKey('p-256', 'level'))), {
          implicitConfirm: true,
        });
        return parsePkiMessage(await new CmpClient(through, credential).post(octets));
      };
      expect(issued(await ask(false)).length).toBeGreaterThan(0);
      await raise(api, 'hardened');
      expect(issued(await ask(true)).length).toBeGreaterThan(0);
      expect(failureOf(await ask(false))).toBe('notAuthorized');
    }));
});
