import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Principal } from '#core/access/principal.ts';
import { Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

let site: Installation;
let nobody: Principal;

beforeAll(async () => {
  site = await installation();
  nobody = { ...site.admin, permissions: new Set() };
});
afterAll(() => site[Symbol.asyncDispose]());

const query = { limit: 1 };
const digest = new Uint8Array(32);

/** Calls every use case with an account that has no permission. */
const useCases: readonly (readonly [
  name: string,
  permission: string,
  call: (gateway: Gateway, who: Principal) => Promise<unknown>,
])[] = [
  ['issuingCas.list', 'cas.read', ({ issuingCas }, who) => issuingCas.list(who, query)],
  ['issuingCas.read', 'cas.read', ({ issuingCas }, who) => issuingCas.read(who, 1)],
  [
    'issuingCas.create',
    'cas.write',
    ({ issuingCas }, who) => issuingCas.create(who, { uniqueName: 'x', type: 0 }),
  ],
  ['issuingCas.update', 'cas.write', ({ issuingCas }, who) => issuingCas.update(who, 1, { uniqueName: 'x' })],
  ['issuingCas.remove', 'cas.write', ({ issuingCas }, who) => issuingCas.remove(who, 1)],
  ['issuingCas.activate', 'cas.write', ({ issuingCas }, who) => issuingCas.activate(who, 1)],
  ['issuingCas.deactivate', 'cas.write', ({ issuingCas }, who) => issuingCas.deactivate(who, 1)],
  ['issuingCas.crl', 'crls.read', ({ issuingCas }, who) => issuingCas.crl(who, 1)],
  ['issuingCas.generateCrl', 'crls.generate', ({ issuingCas }, who) => issuingCas.generateCrl(who, 1)],
  ['certificates.list', 'certificates.read', ({ certificates }, who) => certificates.list(who, query)],
  ['certificates.read', 'certificates.read', ({ certificates }, who) => certificates.read(who, 1)],
  [
    'certificates.create',
    'certificates.issue',
    ({ certificates }, who) => certificates.create(who, { commonName: 'x' }),
  ],
  [
    'certificates.update',
    'certificates.write',
    ({ certificates }, who) => certificates.update(who, 1, { commonName: 'x' }),
  ],
  ['certificates.remove', 'certificates.write', ({ certificates }, who) => certificates.remove(who, 1)],
  [
    'certificates.revoke',
    'certificates.revoke',
    ({ certificates }, who) => certificates.revoke(who, 1, { reason: 'unspecified' }),
  ],
  ['certificates.takeKey', 'certificates.issue', ({ certificates }, who) => certificates.takeKey(who, 1)],
  ['credentials.list', 'credentials.read', ({ credentials }, who) => credentials.list(who, query)],
  ['credentials.read', 'credentials.read', ({ credentials }, who) => credentials.read(who, 1)],
  ['credentials.create', 'credentials.write', ({ credentials }, who) => credentials.create(who, { type: 0 })],
  ['credentials.update', 'credentials.write', ({ credentials }, who) => credentials.update(who, 1, {})],
  ['credentials.remove', 'credentials.write', ({ credentials }, who) => credentials.remove(who, 1)],
  ['credentials.activate', 'credentials.write', ({ credentials }, who) => credentials.activate(who, 1)],
  ['signers.list', 'signers.read', ({ signers }, who) => signers.list(who, query)],
  ['signers.read', 'signers.read', ({ signers }, who) => signers.read(who, 1)],
  ['signers.sign', 'signers.sign', ({ signers }, who) => signers.sign(who, 1, digest)],
  ['signers.messages.list', 'signers.read', ({ signers }, who) => signers.messages.list(who, query)],
  ['signers.messages.read', 'signers.read', ({ signers }, who) => signers.messages.read(who, 1)],
  ['truststores.list', 'truststores.read', ({ truststores }, who) => truststores.list(who, query)],
  ['truststores.read', 'truststores.read', ({ truststores }, who) => truststores.read(who, 1)],
  [
    'truststores.create',
    'truststores.write',
    ({ truststores }, who) => truststores.create(who, { intendedUsage: 0, certificates: [] }),
  ],
  ['truststores.update', 'truststores.write', ({ truststores }, who) => truststores.update(who, 1, {})],
  ['truststores.remove', 'truststores.write', ({ truststores }, who) => truststores.remove(who, 1)],
  ['devices.remove', 'devices.write', ({ devices }, who) => devices.remove(who, 1)],
];

test.each(useCases)('%s requires %s', async (_, permission, call) => {
  const refused = await Promise.try(() => call(site.gateway, nobody)).catch((fault) => fault);
  expect(refused).toMatchObject({ code: 'forbidden', detail: `this requires the permission ${permission}` });
  const granted: Principal = { ...nobody, permissions: new Set([permission]) };
  const answer = await Promise.try(() => call(site.gateway, granted)).catch((fault) => fault);
  expect(answer instanceof Fault && answer.code).not.toBe('forbidden');
});
