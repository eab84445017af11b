import { afterEach, beforeEach, expect, test } from 'bun:test';
import { type Api, apiOf } from '#tests/fixtures/api.ts';
import { answer } from '#tests/fixtures/est-upstream.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { type Plant, plant, pumpRequest } from '#tests/fixtures/plant.ts';

let site: Plant;
let api: Api;
beforeEach(async () => {
  site = await plant();
  api = await apiOf(site.service);
});
afterEach(() => site[Symbol.asyncDispose]());

const shown = async () => {
  const { status, body } = await api.get('/api/issuers/');
  expect([status, body.length]).toEqual([200, 1]);
  return body[0];
};
const stamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/;
const fail = () => site.upstream.script(() => answer(502));

test('an upstream CA shows its URL, its CAs and the time of the last successful call', async () => {
  expect(await shown()).toEqual({
    name: 'plant',
    protocol: 'est',
    url: `https://localhost:${site.upstream.port}/.well-known/est`,
    label: null,
    profile: null,
    ok: true,
    problem: null,
    circuit: { state: 'closed', failures: 0, since: null, next_try_at: null },
    client_certificate: null,
    last_success_at: expect.stringMatching(stamp),
    last_error: null,
    pending_requests: 0,
    issuing_cas: [site.ca],
    gateway: 'gateway-1 (process 7)',
  });
});

test('requests that are pending at an upstream CA are counted, and listed by their state', async () => {
  site.upstream.script(() => answer(202, '', { 'retry-after': '60' }));
  expect((await site.ask(pumpRequest(testKey('p-256', 'waiting')))).kind).toBe('pending');
  expect(await shown()).toMatchObject({ pending_requests: 1 });
  const open = '/api/upstream-requests/?issuer=plant&state=asked,pending,received';
  expect((await api.get(open)).body).toMatchObject([{ state: 'pending' }]);
  expect((await api.get('/api/upstream-requests/?state=issued,failed')).body).toEqual([]);
  expect((await api.get('/api/upstream-requests/?state=asked,lost')).status).toBe(400);
});

test('three failures open the circuit, and a success after the pause closes it', async () => {
  const { clock } = site.service;
  for (const name of ['first', 'second', 'third']) {
    fail();
    await site.ask(pumpRequest(testKey('p-256', name))).catch(() => {});
  }
  const open = await shown();
  expect(open).toMatchObject({
    ok: false,
    problem: expect.stringContaining('3 failures in a row'),
    circuit: { state: 'open', failures: 3 },
    last_error: { at: expect.stringMatching(stamp), detail: expect.stringContaining('502') },
    pending_requests: 3,
  });
  expect(Date.parse(`${open.circuit.next_try_at}Z`) - Date.parse(`${open.circuit.since}Z`)).toBe(10_000);

  clock.advance(10_000);
  expect((await shown()).circuit).toEqual({ ...open.circuit, state: 'half-open', next_try_at: null });
  await site.ask(pumpRequest(testKey('p-256', 'first')));
  expect(await shown()).toMatchObject({
    ok: true,
    problem: null,
    circuit: { state: 'closed', failures: 0, since: null, next_try_at: null },
    last_error: { at: open.last_error.at },
    pending_requests: 2,
  });
});
