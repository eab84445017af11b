import { Fault } from '#core/fault.ts';
import type { Write } from '#core/ports/store.ts';
import { shippedProfiles } from '#core/profiles/shipped.ts';
import { type Installation, installation, password, request } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { makerCa, register, trust } from '#tests/fixtures/manufacturer.ts';
import { shapeOf, type Target } from './target.ts';

const key = testKey('p-256', 'configuration');
const mostInputs = 1000;

interface Service {
  readonly site: Installation;
  readonly secret: string;
  /** Of a device in the domain of the CA that is damaged. */
  readonly second: string;
  readonly ca: number;
  readonly truststore: number;
  readonly profile: number;
  readonly policy: number;
  /** Puts everything in order again that an input before has damaged. */
  readonly whole: readonly Write[];
}

/** A service with one record of each kind that can be damaged, a device that needs none of them, and one that does. */
async function service(): Promise<Service> {
  const site = await installation();
  const { gateway, admin } = site;
  const { id: ca } = await gateway.issuingCas.create(admin, { uniqueName: 'other', type: 1, pathLength: 0 });
  const domain = await gateway.domains.create(admin, { uniqueName: 'second', issuingCa: ca });
  const truststore = await trust(site, 'makers', makerCa('CN=Fuzz Root').certificate);
  await register(site, 'makers', truststore);
  const { id: profile } = await gateway.profiles.create(admin, {
    uniqueName: 'other',
    profile: shippedProfiles.tls_client,
  });
  const { id: policy } = await gateway.approvalPolicies.create(admin, {
    uniqueName: 'valves',
    decision: 'manual',
    domain: domain.id,
    devicePattern: 'valve-[0-9]+',
  });
  const { password: secret } = await site.device('pump-1');
  const { password: second } = await site.device('pump-2', domain.id);
  const { certificate, chain } = (await site.store.get('issuingCa', ca))!;
  const { certificates } = (await site.store.get('truststore', truststore))!;
  const { profile: rules } = (await site.store.get('profile', profile))!;
  const { devicePattern, operations } = (await site.store.get('approvalPolicy', policy))!;
  const whole: readonly Write[] = [
    { op: 'update', kind: 'issuingCa', id: ca, set: { certificate, chain } },
    { op: 'update', kind: 'truststore', id: truststore, set: { certificates } },
    { op: 'update', kind: 'profile', id: profile, set: { profile: rules } },
    { op: 'update', kind: 'approvalPolicy', id: policy, set: { devicePattern, operations } },
  ];
  return { site, secret, second, ca, truststore, profile, policy, whole };
}

/** Ways to replace a stored value by the input. */
const damages: readonly ((own: Service, input: Uint8Array) => Write)[] = [
  ({ ca }, certificate) => ({ op: 'update', kind: 'issuingCa', id: ca, set: { certificate } }),
  ({ ca }, input) => ({ op: 'update', kind: 'issuingCa', id: ca, set: { chain: [input] } }),
  ({ truststore }, input) => ({
    op: 'update',
    kind: 'truststore',
    id: truststore,
    set: { certificates: [input] },
  }),
  ({ profile }, input) => ({ op: 'update', kind: 'profile', id: profile, set: { profile: jsonOf(input) } }),
  ({ policy }, input) => ({
    op: 'update',
    kind: 'approvalPolicy',
    id: policy,
    set: { devicePattern: Buffer.from(input).toString('utf8').replaceAll('\0', '') },
  }),
  ({ policy }, input) => ({
    op: 'update',
    kind: 'approvalPolicy',
    id: policy,
    set: { operations: jsonOf(input) as never },
  }),
];

/** What the input is as JSON, or in the place of it a text. */
function jsonOf(input: Uint8Array): unknown {
  const text = Buffer.from(input).toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whatever is stored in one record, the configuration loads, and what does not need the record is served. */
export const configuration: Target = {
  name: 'configuration',
  corpora: ['certificate', 'profile', 'text'],
  limit: { base: 1000, perKilobyte: 40 },
  async open() {
    let current = await service();
    let inputs = 0;
    return {
      async run(input) {
        if (++inputs % mostInputs === 0) {
          await current.site[Symbol.asyncDispose]();
          current = await service();
        }
        const { site, secret, second } = current;
        const { gateway, store, clock, admin, log } = site;
        const logged = log.entries.length;
        const damage = damages[input.reduce((sum, octet) => sum + octet, 0) % damages.length]!;
        await store.commit([...current.whole, damage(current, input)]);
        clock.advance(61_000);
        const issued = await site.enrol(password('pump-1', secret), {}, request(key, 'CN=pump-1'));
        if (issued.length === 0) throw new Error('the certificate was never issued');
        const { configuration: health } = await gateway.health();
        const lists = [gateway.issuingCas, gateway.truststores, gateway.profiles, gateway.approvalPolicies];
        let answer = health?.ok ? 'in order' : 'ignored';
        const others = [
          () => site.enrol(password('pump-2', second), { domain: 'second' }, request(key, 'CN=pump-2')),
          ...lists.map((list) => () => list.list(admin, { limit: 100 })),
        ];
        for (const other of others) {
          try {
            await other();
          } catch (error) {
            // A CA whose certificate is of another key than its own is a failure inside, which a device is not told more of.
            if (error instanceof Fault) answer += ` ${error.code} ${shapeOf(error.detail)}`;
            else if (!(error instanceof Error && error.message === 'not issued')) throw error;
          }
        }
        for (const { cause } of log.entries.slice(logged)) {
          if (cause instanceof Error && !(cause instanceof Fault)) throw cause;
        }
        return answer;
      },
      [Symbol.asyncDispose]: () => current.site[Symbol.asyncDispose](),
    };
  },
};
