import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RemoteCmpOptions } from '#adapters/outbound/remote-cmp/remote-cmp.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import type { PkiBody } from '#adapters/wire/cmp/body.ts';
import { parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import { readProtection } from '#adapters/wire/cmp/protection.ts';
import type { Failure } from '#adapters/wire/cmp/status.ts';
import type { Issuer } from '#core/ports/issuer.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { extendedKeyUsageExtension, keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { readPublicKey } from '#core/x509/public-key.ts';
import { verifyCertReqMsg, verifyPkcs10 } from '#core/x509/request.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import { cr, crmf, kur, openingMessage, type SendOptions } from '#tests/fixtures/cmp-client.ts';
import {
  answerTo,
  type CmpScript,
  type CmpUpstream,
  cmpUpstream,
  later,
  rejection,
  requestOf,
  waiting,
} from '#tests/fixtures/cmp-upstream.ts';
import { request as pkcs10, type TestClock, testClock } from '#tests/fixtures/installation.ts';
import { type TestKey, testKey } from '#tests/fixtures/keys.ts';
import { byCertificate, faultOf, forged, issuedBy, orderOf, remoteCmp } from '#tests/fixtures/remote-cmp.ts';

// Devices' own messages, passed on inside those of the gateway (RFC 9483 §5.2.2.1).

const key = testKey('p-256', 'pump');
const csr = verifyPkcs10(pkcs10(key, 'CN=pump-1'));
const inCrmf = verifyCertReqMsg(crmf(key, { certReqId: 3 }), { raVerified: false });
const p10cr: PkiBody = { type: 'p10cr', request: csr.der };

let upstream: CmpUpstream;
let clock: TestClock;
const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
let ours: ReturnType<typeof byCertificate>;
let device: { readonly certificate: Uint8Array; readonly key: TestKey };

const certified = (name: string, purposes: readonly string[]) => {
  const its = testKey('p-256', name);
  const certificate = upstream.ca.certify(verifyPkcs10(pkcs10(its, `CN=${name}`)), {
    extensions: [keyUsageExtension(['digitalSignature']), extendedKeyUsageExtension([...purposes])],
  });
  return { certificate, key: its };
};

beforeAll(async () => {
  clock = testClock();
  upstream = await cmpUpstream(clock.now);
  ours = byCertificate(upstream);
  device = certified('pump-1', [oid.clientAuth]);
});
afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

function issuer(
  forward: RemoteCmpOptions['forwarding']['forward'] = 'nested',
  options: Partial<RemoteCmpOptions> = {},
  raVerified = false,
): Issuer {
  const surroundings = { directory, vault: createVault(new Uint8Array(32)), clock, log: recordingLog() };
  const forwarding = { forward, raVerified, enrolWith: 'cr', renewWith: 'cr' } as const;
  return remoteCmp(surroundings, upstream, { identity: ours, forwarding, ...options });
}

const orderIn = async (body: PkiBody, options: SendOptions = {}) =>
  orderOf(body.type === 'p10cr' ? csr : inCrmf, {}, { message: await openingMessage(device, body, options) });

/** What the last exchange was about: the outer message and the one inside. */
const lastTwo = () => upstream.received.slice(-2) as [CmpUpstream['received'][0], CmpUpstream['received'][0]];
const last = () => upstream.received.at(-1)!;

describe('the signed message of a device', () => {
  test.each([
    ['p10cr', () => p10cr],
    ['cr', () => cr(inCrmf.der)],
    ['kur', () => kur(inCrmf.der)],
  ] as const)('is nested unchanged, to its last octet: %s', async (_, body) => {
    const order = await orderIn(body());
    await issuedBy(issuer('nested', { profile: 'machines', implicitConfirm: true }).issue(order));
    const [outer, inner] = lastTwo();
    expect(inner.der).toEqual(order.message!);
    expect(outer.body).toEqual({ type: 'nested', messages: [order.message!] });
    const { transactionID, senderNonce } = inner.header;
    expect(outer.header).toMatchObject({
      transactionID,
      senderNonce,
      recipNonce: undefined,
      generalInfo: [],
    });
    expect(outer.extraCerts[0]).toEqual(ours.credential.certificates[0]!);
    const protection = readProtection(outer);
    if (protection.kind !== 'signature') throw new Error(protection.kind);
    expect(protection.verify(readPublicKey(parseCertificate(outer.extraCerts[0]!).spki))).toBe(true);
  });

  test('is the same message when the order is repeated at any instance', async () => {
    const order = await orderIn(p10cr);
    const count = upstream.issued.length;
    const first = await issuedBy(issuer().issue(order));
    const [sent] = lastTwo();
    const second = await issuedBy(issuer().issue(order));
    expect(lastTwo()[0].der).toEqual(sent.der);
    expect(second).toEqual(first);
    expect(upstream.issued).toHaveLength(count + 1);
  });

  test('is confirmed by the gateway in its transaction, unless the device needs no confirmation', async () => {
    const order = await orderIn(p10cr);
    const { certificate, confirm } = await issuedBy(issuer().issue(order));
    const { header } = last();
    await issuer().confirm!(confirm!, certificate, true);
    expect(last().body.type).toBe('certConf');
    expect(last().header.transactionID).toEqual(header.transactionID!);
    expect(last().extraCerts[0]).toEqual(ours.credential.certificates[0]!);
    const confirmation = last().der;
    await issuer().confirm!(confirm!, certificate, true);
    expect(last().der).toEqual(confirmation);
    upstream.script((message, say) =>
      say(answerTo(message, upstream.ca.certify(requestOf(message))), {
        header: { generalInfo: message.header.generalInfo },
      }),
    );
    const without = await issuedBy(issuer().issue(await orderIn(p10cr, { implicitConfirm: true })));
    expect(without.confirm).toBeUndefined();
  });

  test('is polled for by the gateway in its transaction, with the certReqId of its request', async () => {
    upstream.script(waiting, later(5));
    const order = await orderIn(cr(inCrmf.der));
    const { header } = parsePkiMessage(order.message!);
    let answer = await issuer().issue(order);
    while (answer.kind === 'pending') {
      answer = await issuer().poll!(answer.handle, order);
      expect(last().body).toEqual({ type: 'pollReq', certReqIds: [3] });
      expect(last().header.transactionID).toEqual(header.transactionID!);
      expect(last().header.senderNonce).not.toEqual(header.senderNonce!);
    }
    expect([answer.certificate]).toEqual(upstream.issued.slice(-1));
  });
});

describe('a request without a message that proves anything to others', () => {
  test('is sent as usual', async () => {
    await issuedBy(issuer().issue(orderOf(csr)));
    expect(last().body).toEqual(p10cr);
    expect(upstream.received.at(-2)?.body.type).not.toBe('nested');
  });

  test('is rejected before anything is sent when only nested messages are allowed', async () => {
    const before = upstream.received.length;
    expect(() => issuer('nested-only').check!(orderOf(csr))).toThrow(
      expect.objectContaining({
        code: 'unsupported',
        detail: 'forward = "nested-only" requires a CMP message signed by the device',
      }),
    );
    expect(upstream.received).toHaveLength(before);
    issuer('nested-only').check!(await orderIn(p10cr));
  });

  test('a message is not forwarded when the configuration does not allow it', async () => {
    await issuedBy(issuer('request').issue(await orderIn(p10cr)));
    expect(last().body).toEqual(p10cr);
    expect(last().extraCerts[0]).toEqual(ours.credential.certificates[0]!);
  });
});

test('a message with other names than the profile gives is not forwarded: the gateway vouches for those, if allowed', async () => {
  const { message } = await orderIn(cr(inCrmf.der));
  const order = orderOf(inCrmf, { subject: parseDistinguishedName('CN=pump-1,O=Plant') }, { message });
  await issuedBy(issuer('nested', {}, true).issue(order));
  expect(last().body.type).toBe('cr');
  for (const one of [issuer('nested'), issuer('nested-only', {}, true)])
    expect(() => one.check!(order)).toThrow(expect.objectContaining({ code: 'badCsr' }));
});

describe('a response to it', () => {
  /** The usual answer inside one of somebody else's. */
  const wrapped =
    (by: () => { certificate: Uint8Array; key: TestKey }, copies = 1): CmpScript =>
    async (message, say) => {
      const inner = await say(answerTo(message, upstream.ca.certify(requestOf(message))));
      return say({ type: 'nested', messages: Array(copies).fill(inner) }, { signer: by() });
    };
  const authority = () => certified('an authority', [oid.cmcRa]);
  const stranger = () => certified('anybody', [oid.clientAuth]);
  const untrusted =
    'the response of the upstream CA is not trusted: its signer is not authorized to act for a CA (id-kp-cmcCA)';

  test('may be nested in a message of an authority of the upstream CA', async () => {
    upstream.script(wrapped(authority));
    await issuedBy(issuer().issue(await orderIn(p10cr)));
    const serverName = parseDistinguishedName('CN=an authority');
    upstream.script(wrapped(authority));
    const trust = { kind: 'anchors', certificates: [upstream.ca.root] } as const;
    await issuedBy(issuer('nested', { trust, serverName }).issue(await orderIn(p10cr)));
  });

  const rows: readonly (readonly [string, CmpScript, readonly [string, string]])[] = [
    ['inside a message of anybody’s', wrapped(stranger), ['unavailable', untrusted]],
    [
      'by an authority alone, which speaks for no CA',
      (message, say) =>
        say(answerTo(message, upstream.ca.certify(requestOf(message))), { signer: authority() }),
      ['unavailable', untrusted],
    ],
    [
      'that an authority wraps, itself by nobody who is known',
      async (message, say) => {
        const body = answerTo(message, upstream.ca.certify(requestOf(message)));
        const inner = await say(body, { signer: stranger() });
        return say({ type: 'nested', messages: [inner] }, { signer: authority() });
      },
      ['unavailable', untrusted],
    ],
    [
      'with several messages in one',
      wrapped(authority, 2),
      ['malformed', 'the upstream CA sent several messages in one nested message'],
    ],
    [
      'to another message of the device',
      (message, say) =>
        say(answerTo(message, upstream.ca.certify(requestOf(message))), {
          header: { recipNonce: new Uint8Array(16) },
        }),
      ['unavailable', 'the upstream CA responded with another recipNonce'],
    ],
    [
      'of another transaction',
      (message, say) =>
        say(answerTo(message, upstream.ca.certify(requestOf(message))), {
          header: { transactionID: new Uint8Array(16) },
        }),
      ['unavailable', 'the upstream CA responded with another transactionID'],
    ],
  ];
  test.each(rows)('is rejected: %s', async (_, script, expected) => {
    upstream.script(script);
    expect(await faultOf(issuer().issue(await orderIn(p10cr)))).toEqual([...expected]);
  });
});

describe('a rejected message of one device does not affect other devices', () => {
  test.each<[Failure, string]>([
    ['badMessageCheck', 'forbidden'],
    ['signerNotTrusted', 'forbidden'],
    ['badTime', 'forbidden'],
    ['wrongAuthority', 'forbidden'],
    ['badCertTemplate', 'badCsr'],
    ['systemUnavail', 'unavailable'],
  ])('%s is %s', async (failure, code) => {
    for (const script of [
      ((_, say) => say({ type: 'error', status: rejection(failure, 'no') })) as CmpScript,
      ((message, say) => say(answerTo(message, undefined, rejection(failure, 'no')))) as CmpScript,
    ]) {
      upstream.script(script);
      const [found, detail] = await faultOf(issuer().issue(await orderIn(p10cr)));
      expect([found, detail.endsWith(`(${failure}): no`)]).toEqual([code, true]);
    }
    // Also while it is decided on, when a device is no longer known.
    upstream.script(waiting, (_, say) => say({ type: 'error', status: rejection(failure, 'no') }));
    const order = await orderIn(p10cr);
    const answer = await issuer().issue(order);
    if (answer.kind !== 'pending') throw new Error('not pending');
    expect((await faultOf(issuer().poll!(answer.handle, order)))[0]).toBe(code);
  });

  test('a message with an invalid signature is rejected permanently', async () => {
    const message = forged((await orderIn(p10cr)).message!);
    expect(await faultOf(issuer().issue(orderOf(csr, {}, { message })))).toEqual([
      'forbidden',
      'the upstream CA rejects the message of the device (badMessageCheck)',
    ]);
  });
});
