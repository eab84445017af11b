import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { PkiHeader } from '#adapters/wire/cmp/header.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import { type CmpCredential, crmf, ir, issued } from '#tests/fixtures/cmp-client.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { type CmpSite, cmpSite } from './fixture.ts';

let site: CmpSite;
let pump: CmpCredential;
let held: CmpCredential;
const key = testKey('p-256', 'pump');

beforeAll(async () => {
  site = await cmpSite();
  pump = await site.cmpDevice('pump-1');
  const answer = await site.client(pump).send(ir(crmf(key)), { implicitConfirm: true });
  held = { certificate: issued(answer), key };
});
afterAll(() => site[Symbol.asyncDispose]());

/** Returns the audit events that `run` added. */
async function recorded(run: () => Promise<unknown>) {
  const before = (await site.audit('enrolment.admit')).length;
  await run();
  return (await site.audit('enrolment.admit')).slice(before);
}

describe('a message that the CMP adapter rejects is audited', () => {
  const header = (fields: Partial<PkiHeader>) => () =>
    site.client(pump).send(ir(crmf(key)), { header: fields });
  const rows: readonly [what: string, run: () => Promise<unknown>, actor: string, reason: string][] = [
    ['pvno 7', header({ pvno: 7 }), 'unknown', 'unsupportedVersion: '],
    ['no senderNonce', header({ senderNonce: undefined }), 'unknown', 'badSenderNonce: '],
    ['no senderKID', header({ senderKID: undefined }), 'unknown', 'badMessageCheck: senderKID'],
    ['a first recipNonce', header({ recipNonce: new Uint8Array(16) }), 'device', 'badRecipientNonce: '],
    [
      'no protection',
      () => site.client(pump).send(ir(crmf(key)), { credential: undefined }),
      'unknown',
      'badMessageCheck: the message must be protected',
    ],
    [
      'a signature of another key',
      () =>
        site.client(pump).send(ir(crmf(key)), {
          credential: { ...held, key: testKey('p-256', 'another') } as CmpCredential,
        }),
      'unknown',
      'badMessageCheck: the signature',
    ],
    [
      'a body that is not of the path',
      () => site.client(held).send(ir(crmf(key)), { path: '/kur' }),
      'device',
      'badRequest: a body of type ir',
    ],
    [
      'a transactionID that has been used',
      async () => {
        const client = site.client(pump);
        await client.send(ir(crmf(key)), { implicitConfirm: true });
        client.nonce = undefined;
        await client.send(ir(crmf(testKey('p-256', 'other'))));
      },
      'device',
      'transactionIdInUse: ',
    ],
    [
      'a confirmation of nothing',
      () => site.client(held).send({ type: 'certConf', statuses: [] }),
      'device',
      'badRequest: there is no transaction',
    ],
  ];
  test.each(rows)('%s', async (_, run, actor, reason) => {
    const [event, ...more] = await recorded(run);
    expect(more).toEqual([]);
    expect(event).toMatchObject({ outcome: 'refused', actor: { kind: actor }, object: 'domain:default' });
    expect(event!.detail.protocol).toBe('cmp');
    expect(event!.detail.reason).toStartWith(reason);
  });
});

test('a message that the core rejects is audited once', async () => {
  const wrong = { ...pump, secret: 'wrong' } as CmpCredential;
  const events = await recorded(async () => {
    const octets = await site.client(wrong).build(ir(crmf(key)));
    await site.client(wrong).post(octets);
  });
  expect(events.map(({ detail }) => detail.reason)).toEqual(['wrong credentials']);
});

test('an accepted message is not audited as rejected', async () => {
  const events = await recorded(() =>
    site.client(held).send({ type: 'genm', infos: [{ type: infoTypes.caCerts.oid }] }),
  );
  expect(events).toEqual([]);
});

test('after many rejections from one address only their number is audited', async () => {
  site.clock.advance(120_000);
  const client = site.client(pump);
  const octets = await client.build(ir(crmf(key)), { header: { pvno: 7 } });
  const flood = await recorded(async () => {
    for (let i = 0; i < 100; i++) await client.post(octets);
  });
  expect(flood).toHaveLength(60);
  site.clock.advance(120_000);
  const [next] = await recorded(() => client.post(octets));
  expect(next!.detail.unrecorded).toBe(40);
});
