import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RemoteCmpOptions } from '#adapters/outbound/remote-cmp/remote-cmp.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { verifyPkcs10 } from '#core/x509/request.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import {
  type CmpScript,
  type CmpUpstream,
  cmpUpstream,
  later,
  rejection,
  waiting,
} from '#tests/fixtures/cmp-upstream.ts';
import { request as pkcs10, type TestClock, testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { byCertificate, faultOf, issuedBy, orderOf, remoteCmp } from '#tests/fixtures/remote-cmp.ts';

const request = verifyPkcs10(pkcs10(testKey('p-256', 'pump'), 'CN=pump-1'));
const minute = 60_000;

let upstream: CmpUpstream;
let clock: TestClock;
const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
beforeAll(async () => {
  clock = testClock();
  upstream = await cmpUpstream(clock.now);
});
afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

function issuer(options: Partial<RemoteCmpOptions> = {}) {
  const surroundings = { directory, vault: createVault(new Uint8Array(32)), clock, log: recordingLog() };
  return remoteCmp(surroundings, upstream, options);
}
const order = () => orderOf(request, {}, { createdAt: clock.now() });
/** X.509 knows whole seconds only. */
const second = (time: number): number => Math.floor(time / 1000) * 1000;
const sent = () => upstream.received.filter(({ body }) => body.type !== 'genm');
const times = () => sent().map(({ header }) => header.messageTime);

/** Refuses what is more than five minutes old, as a strict upstream does; to the rest it does what it usually does. */
const strict: CmpScript = ({ header: { messageTime } }, say) =>
  messageTime !== undefined && Math.abs(clock.now() - messageTime) <= 5 * minute
    ? undefined
    : say({ type: 'error', status: rejection('badTime') });

describe('messageTime', () => {
  test('is in every message: requests, polls, confirmations, general messages and revocations', async () => {
    upstream.received.length = 0;
    const one = issuer({ waiting: { least: 60, most: 60 } });
    upstream.script(waiting, later(60));
    const first = order();
    const pending = await one.issue(first);
    if (pending.kind !== 'pending') throw new Error(pending.kind);
    clock.advance(minute);
    const still = await one.poll!(pending.handle, first);
    if (still.kind !== 'pending') throw new Error(still.kind);
    clock.advance(minute);
    const answer = await issuedBy(one.poll!(still.handle, first));
    await one.confirm!(answer.confirm!, answer.certificate, true);
    await one.chain();
    await one.revoke!(answer.certificate, 'superseded');
    const sentTimes = Object.groupBy(upstream.received, ({ body }) => body.type);
    expect(Object.keys(sentTimes).toSorted()).toEqual(['certConf', 'genm', 'p10cr', 'pollReq', 'rr']);
    const now = second(clock.now());
    const [asked, polled] = [now - 2 * minute, now - minute];
    expect(times()).toEqual([asked, polled, now, now, now]);
    for (const { header } of sentTimes.genm ?? []) expect(header.messageTime).toBeNumber();
  });

  test('is omitted when the configuration says so', async () => {
    upstream.received.length = 0;
    const one = issuer({ messageTime: false });
    await issuedBy(one.issue(order()));
    await one.chain();
    expect(new Set(times())).toEqual(new Set([undefined]));
  });

  test('is that of the first attempt when the order is repeated, so that the upstream CA recognizes the message', async () => {
    const ordered = order();
    const given = await issuedBy(issuer().issue(ordered));
    clock.advance(10 * minute);
    const repeated = await issuedBy(issuer().issue(ordered));
    expect(repeated.certificate).toEqual(given.certificate);
    const [first, again] = sent().slice(-2);
    expect(again!.der).toEqual(first!.der);
  });

  test('is new for an upstream CA that rejects that of the first attempt as too old', async () => {
    upstream.script(strict, strict);
    const old = order();
    clock.advance(10 * minute);
    const { certificate } = await issuedBy(issuer({ identity: byCertificate(upstream) }).issue(old));
    expect(parseCertificate(certificate).spki).toEqual(request.publicKey.spki);
    expect(times().slice(-2)).toEqual([second(clock.now() - 10 * minute), second(clock.now())]);
  });

  test('is sent twice at most when the upstream CA has another time', async () => {
    const refuse: CmpScript = (_, say) => say({ type: 'error', status: rejection('badTime') });
    upstream.script(refuse, refuse, refuse);
    upstream.received.length = 0;
    const old = order();
    clock.advance(10 * minute);
    expect((await faultOf(issuer().issue(old)))[1]).toContain('badTime');
    expect(sent()).toHaveLength(2);
    expect((await faultOf(issuer().issue(order())))[1]).toContain('badTime');
    expect(sent()).toHaveLength(3);
  });
});
