import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

let site: Installation;
let api: Api;
let domain: number;
beforeAll(async () => {
  site = await installation();
  api = await apiOf(site);
  const profiles: { id: number; unique_name: string }[] = (await api.get('/api/cert-profiles/')).body;
  const id = (name: string) => profiles.find(({ unique_name }) => unique_name === name)!.id;
  const { body } = await api.post('/api/domains/', {
    unique_name: 'line 7',
    profiles: [
      { profile: id('tls_server'), alias: null },
      { profile: id('tls_client'), alias: 'client' },
    ],
  });
  domain = body.id;
});
afterAll(() => site[Symbol.asyncDispose]());

const path = (id = domain) => `/api/domains/${id}/enrolment-urls/`;

test('the enrolment URLs of a domain are those without a profile, and those of each offered profile', async () => {
  const { status, body } = await api.get(path());
  const urls = (segments: string) => ({
    est: `https://pki.example:8443/.well-known/est/${segments}/simpleenroll`,
    rest: `https://pki.example:8443/rest/${segments}/enroll`,
    cmp: `http://pki.example:8080/.well-known/cmp/p/${segments}`,
  });
  expect([status, body]).toEqual([
    200,
    [
      { cert_profile: null, name: null, ...urls('line%207') },
      { cert_profile: expect.any(Number), name: 'tls_server', ...urls('line%207/tls_server') },
      { cert_profile: expect.any(Number), name: 'client', ...urls('line%207/client') },
    ],
  ]);
});

test('a protocol that is not enabled has no enrolment URL', async () => {
  const gateway = await site.restarted({ protocols: ['est'] });
  const est = await apiOf({ ...site, gateway });
  const { body } = await est.get(path());
  expect(body[0]).toMatchObject({ est: expect.any(String), rest: null, cmp: null });
});

test('an unknown domain has no enrolment URLs, and an anonymous client does not get any', async () => {
  expect((await api.get(path(999))).status).toBe(404);
  expect((await api.anonymous.get(path())).status).toBe(401);
});
