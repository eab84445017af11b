import { describe, expect, test } from 'bun:test';
import { Fault } from '#core/fault.ts';
import { type CmpPlant, cmpPlant } from '#tests/fixtures/cmp-plant.ts';
import {
  answerTo,
  type CmpScript,
  cmpResponse,
  later,
  requestOf,
  waiting,
} from '#tests/fixtures/cmp-upstream.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { pumpRequest } from '#tests/fixtures/plant.ts';
import { byCertificate } from '#tests/fixtures/remote-cmp.ts';

const wish = pumpRequest(testKey('p-256', 'pump'));
const minute = 60_000;
/** Milliseconds. Longer than any successful exchange, also on a busy machine. */
const timeout = 2500;

const faultOf = async (promise: Promise<unknown>): Promise<Fault> => {
  const outcome = await promise.then(
    (value) => value,
    (error: unknown) => error,
  );
  if (outcome instanceof Fault) return outcome;
  throw new Error(`no Fault: ${JSON.stringify(outcome)}`);
};

const certificates = async ({ service, ca }: CmpPlant) =>
  (await service.store.list('certificate', { where: [{ field: 'ca', is: 'equal', value: ca }], limit: 1000 }))
    .records;

const sent = ({ upstream }: CmpPlant, type: string) =>
  upstream.received
    .filter(({ body }) => body.type === type)
    .map(({ der }) => Buffer.from(der).toString('hex'));

const openings = (one: CmpPlant) => new Set(sent(one, 'p10cr'));

/** Repeats the request and maintenance until the certificate is issued. */
async function inTheEnd(one: CmpPlant): Promise<Uint8Array> {
  for (let n = 0; n < 12; n++) {
    one.service.clock.advance(5 * minute);
    await one.service.gateway.maintain('a');
    const outcome = await one.ask(wish).catch(() => undefined);
    if (outcome?.kind === 'issued') return outcome.certificate;
  }
  throw new Error('never issued');
}

test('a certificate is confirmed to the upstream CA only after it is recorded', async () => {
  await using one = await cmpPlant();
  const outcome = await one.ask(wish);
  if (outcome.kind !== 'issued') throw new Error('not issued');
  expect([outcome.certificate]).toEqual(one.upstream.issued);
  expect(outcome.chain).toEqual([one.upstream.ca.issuing, one.upstream.ca.root]);
  await inTheEnd(one);
  expect(sent(one, 'certConf')).toHaveLength(1);
  expect(await certificates(one)).toHaveLength(1);
});

describe('no request is lost and no certificate issued twice', () => {
  const cases: readonly (readonly [string, (one: CmpPlant) => void, (one: CmpPlant) => void])[] = [
    [
      'while nobody answers',
      ({ between }) => {
        between.mode = 'hang';
      },
      ({ between }) => {
        between.mode = 'pass';
      },
    ],
    [
      'while connections are refused',
      ({ between }) => {
        between.mode = 'refuse';
      },
      ({ between }) => {
        between.mode = 'pass';
      },
    ],
    [
      'when the answer is cut off in the middle',
      ({ between }) => {
        between.mode = { cut: 400 };
      },
      ({ between }) => {
        between.mode = 'pass';
      },
    ],
    [
      'while the upstream has errors of its own',
      ({ upstream }) => upstream.always(() => new Response(null, { status: 500 })),
      ({ upstream }) => upstream.always(undefined),
    ],
    [
      'when the upstream is slow: it has issued by the time that it is asked again',
      ({ upstream }) =>
        upstream.always(async ({ body }) => {
          if (body.type !== 'certConf') await Bun.sleep(timeout + 500);
          return undefined;
        }),
      ({ upstream }) => upstream.always(undefined),
    ],
  ];
  for (const [what, begin, end] of cases) {
    for (const identity of ['secret', 'certificate'] as const) {
      test(`${what}, by a ${identity}`, async () => {
        let own: Parameters<typeof cmpPlant>[0] = { timeout };
        if (identity === 'certificate') {
          // The keys of upstream CAs are the same in all tests.
          await using any = await cmpPlant();
          own = { ...own, identity: { ...byCertificate(any.upstream), renew: false } };
        }
        await using one = await cmpPlant(own);
        begin(one);
        expect((await faultOf(one.ask(wish))).code).toBe('unavailable');
        expect(await certificates(one)).toEqual([]);
        end(one);
        const certificate = await inTheEnd(one);
        // One transaction, with the same message each time.
        expect(openings(one).size).toBe(1);
        expect(one.upstream.issued).toEqual([certificate]);
        expect(await certificates(one)).toHaveLength(1);
        expect(sent(one, 'certConf').length).toBe(1);
      });
    }
  }
});

test('a pending request is polled for an hour by one of several instances, and is issued in the end', async () => {
  await using one = await cmpPlant();
  one.upstream.script(waiting);
  expect(await one.ask(wish)).toMatchObject({ kind: 'pending', upstream: true });
  const { clock, gateway } = one.service;
  for (let n = 0; n < 12; n++) {
    one.upstream.script(later(300));
    clock.advance(5 * minute);
    await Promise.all([gateway.maintain('a'), gateway.maintain('b'), one.ask(wish)]);
    expect(sent(one, 'pollReq')).toHaveLength(n + 1);
  }
  expect(await inTheEnd(one)).toEqual(one.upstream.issued[0]!);
  expect(openings(one).size).toBe(1);
});

describe('a certificate other than the requested one is not handed out, and the upstream CA is notified', () => {
  const rows: readonly (readonly [string, CmpScript | ((one: CmpPlant) => CmpScript), string])[] = [
    [
      'a certificate for another key',
      (one: CmpPlant): CmpScript =>
        (message, say) => {
          const { publicKey } = testKey('p-256', 'stranger');
          return say(answerTo(message, one.upstream.ca.certify({ ...requestOf(message), publicKey })));
        },
      'has another public key than requested',
    ],
    [
      'a certificate of another CA of the same name',
      (one: CmpPlant): CmpScript =>
        (message, say) =>
          say(answerTo(message, one.upstream.ca.certify(requestOf(message), {}, one.upstream.ca.impostor))),
      'was not issued by that CA',
    ],
  ];
  for (const [what, script, why] of rows) {
    test(what, async () => {
      await using one = await cmpPlant();
      one.upstream.script((script as (plant: CmpPlant) => CmpScript)(one));
      const { code, detail } = await faultOf(one.ask(wish));
      expect(code).toBe('unavailable');
      expect(detail).toStartWith(`the certificate from the upstream CA ${why}`);
      expect(await certificates(one)).toEqual([]);
      const { body } = one.upstream.received.at(-1)!;
      if (body.type !== 'certConf') throw new Error(body.type);
      expect(body.statuses[0]!.statusInfo?.status).toBe('rejection');
      one.service.clock.advance(61 * minute);
      expect((await one.ask(wish)).kind).toBe('issued');
    });
  }

  test('a response to another device', async () => {
    await using one = await cmpPlant();
    // An attacker in between sends it: the upstream CA knows nothing of it.
    one.upstream.script(async (message, say) =>
      cmpResponse(
        await say(answerTo(message, one.upstream.ca.certify(requestOf(message))), {
          header: { transactionID: new Uint8Array(16) },
        }),
      ),
    );
    expect((await faultOf(one.ask(wish))).detail).toBe(
      'the upstream CA responded with another transactionID',
    );
    expect(await certificates(one)).toEqual([]);
    await inTheEnd(one);
    expect(await certificates(one)).toHaveLength(1);
  });
});

test('a revocation is made at the upstream CA before it is recorded here', async () => {
  await using one = await cmpPlant();
  await one.ask(wish);
  const [record] = await certificates(one);
  const { gateway, admin } = one.service;
  one.between.mode = 'refuse';
  expect((await faultOf(gateway.certificates.revoke(admin, record!.id, { reason: 'superseded' }))).code).toBe(
    'unavailable',
  );
  expect((await certificates(one))[0]!.status).toBe('good');
  one.between.mode = 'pass';
  one.service.clock.advance(10 * minute);
  await gateway.certificates.revoke(admin, record!.id, { reason: 'superseded' });
  expect((await certificates(one))[0]!.status).toBe('revoked');
  expect(sent(one, 'rr')).toHaveLength(1);
});

test('a local CA is certified by the upstream CA, signs here, and is confirmed there', async () => {
  await using one = await cmpPlant();
  const { gateway, admin } = one.service;
  const ca = await gateway.issuingCas.create(admin, {
    uniqueName: 'line 1',
    type: 1,
    issuer: 'plant',
    subject: 'CN=line 1,O=Plant',
  });
  expect(ca.certificate).toEqual(one.upstream.issued.at(-1)!);
  expect(ca.chain).toEqual([one.upstream.ca.issuing, one.upstream.ca.root]);
  await gateway.domains.update(admin, 1, { issuingCa: ca.id });
  const asked = openings(one).size;
  expect((await one.ask(wish)).kind).toBe('issued');
  expect(openings(one).size).toBe(asked);
});
