import { describe, expect, test } from 'bun:test';
import type { Evidence } from '#core/requester/evidence.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

const nat = '203.0.113.5';
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'in',
    ({ code }) => code,
  );

/** Signs the device pump-1 in from an address, with its right secret or a wrong one. */
type SignIn = (site: Installation, secret: string, isRight: boolean, address: string) => Promise<string>;

const target = { domain: undefined, profile: undefined } as const;
const admitted = ({ gateway }: Installation, evidence: Evidence, protocol: 'est' | 'cmp'): Promise<string> =>
  codeOf(gateway.admit(evidence, { ...target, protocol }));

describe.each<[kind: string, signIn: SignIn]>([
  [
    'password',
    (site, secret, isRight, address) => {
      const guess = isRight ? secret : 'wrong';
      return admitted(site, { kind: 'password', username: 'pump-1', password: guess, address }, 'est');
    },
  ],
  [
    'shared secret',
    (site, _secret, isRight, address) => {
      const verify = () => isRight;
      return admitted(site, { kind: 'mac', reference: 'pump-1', verify, secure: true, address }, 'cmp');
    },
  ],
])('a device with its %s', (_kind, signIn) => {
  test('is not locked out of its own address by failures at other addresses', async () => {
    await using site = await installation();
    const { password } = await site.device('pump-1');
    expect(await signIn(site, password, true, nat)).toBe('in');
    for (let n = 0; n < 20; n++) await signIn(site, password, false, `192.0.2.${n}`);
    expect(await signIn(site, password, true, '198.51.100.1')).toBe('tooManyRequests');
    expect(await signIn(site, password, true, nat)).toBe('in');
  });

  test('is rejected in another domain and when it is blocked, with an audit event of the device', async () => {
    await using site = await installation();
    const { gateway, admin, store } = site;
    const { device, password } = await site.device('pump-1');
    const { issuingCa, profiles } = await gateway.domains.read(admin, 1);
    const other = await gateway.domains.create(admin, { uniqueName: 'other', issuingCa, profiles });
    await store.commit([{ op: 'update', kind: 'device', id: device.id, set: { domain: other.id } }]);
    expect(await signIn(site, password, true, nat)).toBe('forbidden');
    await store.commit([{ op: 'update', kind: 'device', id: device.id, set: { domain: 1 } }]);
    expect(await signIn(site, password, true, nat)).toBe('in');
    await gateway.devices.block(admin, device.id, { comment: 'stolen' });
    expect(await signIn(site, password, true, nat)).toBe('forbidden');
    const events = await site.audit('enrolment.admit');
    expect(
      events.map(({ actor, outcome, detail }) => [actor.kind, actor.id, outcome, detail.reason]),
    ).toEqual([
      ['device', device.id, 'refused', 'another domain'],
      ['device', device.id, 'refused', 'the device is blocked'],
    ]);
  });
});
