import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RemoteCmpOptions } from '#adapters/outbound/remote-cmp/remote-cmp.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import { findValue, typedValue } from '#adapters/wire/cmp/typed-value.ts';
import type { Issuer } from '#core/ports/issuer.ts';
import { type Certificate, fingerprint, parseCertificate } from '#core/x509/certificate.ts';
import { parseCertReqMsg } from '#core/x509/crmf.ts';
import { keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { verifyCertReqMsg, verifyPkcs10 } from '#core/x509/request.ts';
import { certificate, party } from '#tests/core/x509/path/certify.ts';
import { recordingLog } from '#tests/fakes/log.ts';
import { crmf, pbmac1 } from '#tests/fixtures/cmp-client.ts';
import {
  answerTo,
  type CmpScript,
  type CmpUpstream,
  cmpResponse,
  cmpUpstream,
  later,
  rejection,
  requestOf,
  waiting,
} from '#tests/fixtures/cmp-upstream.ts';
import { request as pkcs10, type TestClock, testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import {
  byCertificate,
  bySecret,
  faultOf,
  issuedBy,
  orderOf,
  remoteCmp,
  strict,
} from '#tests/fixtures/remote-cmp.ts';

const day = 24 * 3_600_000;
const key = testKey('p-256', 'pump');
const inPkcs10 = verifyPkcs10(pkcs10(key, 'CN=pump-1'));
const inCrmf = verifyCertReqMsg(crmf(key), { raVerified: false });

let upstream: CmpUpstream;
let clock: TestClock;
let directory: string;
beforeAll(async () => {
  clock = testClock();
  upstream = await cmpUpstream(clock.now);
});
const directories: string[] = [];
afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
  for (const one of directories) rmSync(one, { recursive: true });
});

function issuer(options: Partial<RemoteCmpOptions> = {}, again = false): Issuer {
  if (!again) {
    directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
    directories.push(directory);
  }
  const surroundings = { directory, vault: createVault(new Uint8Array(32)), clock, log: recordingLog() };
  return remoteCmp(surroundings, upstream, options);
}

const bySignature = (): Partial<RemoteCmpOptions> => ({ identity: byCertificate(upstream) });
const last = () => upstream.received.at(-1)!;

describe('a request', () => {
  const forwarding = { forward: 'request', raVerified: false, enrolWith: 'cr', renewWith: 'cr' } as const;

  test('in PKCS#10 is sent as the device signed it', async () => {
    await issuer().issue(orderOf(inPkcs10));
    expect(last().body).toEqual({ type: 'p10cr', request: inPkcs10.der });
  });

  test("in CRMF is sent with the device's proof of possession, in the configured message", async () => {
    for (const enrolWith of ['ir', 'cr'] as const) {
      await issuer({ forwarding: { ...forwarding, enrolWith } }).issue(orderOf(inCrmf));
      expect(last().body).toEqual({ type: enrolWith, requests: [inCrmf.der] });
    }
  });

  test('has the names of the profile and raVerified when the upstream CA allows it', async () => {
    const template = { subject: parseDistinguishedName('CN=pump-1,O=Plant') };
    const one = issuer({ forwarding: { ...forwarding, raVerified: true, renewWith: 'kur' } });
    for (const request of [inPkcs10, inCrmf]) {
      await one.issue(orderOf(request, template));
      const { body } = last();
      if (body.type !== 'cr') throw new Error(body.type);
      const sent = parseCertReqMsg(body.requests[0]!);
      expect(sent.proof).toEqual({ kind: 'raVerified' });
      expect([sent.template.subject, sent.template.spki]).toEqual([template.subject, key.publicKey.spki]);
    }
    const renews = upstream.issued.at(-1)!;
    await one.issue(orderOf(inCrmf, template, { operation: 'renew', renews }));
    const { body } = last();
    if (body.type !== 'kur') throw new Error(body.type);
    expect(parseCertReqMsg(body.requests[0]!).controls).toHaveLength(1);
  });

  test('that cannot be forwarded is rejected before anything is sent', () => {
    const vouched = verifyCertReqMsg(crmf(key, { proof: { kind: 'raVerified' } }), { raVerified: true });
    const before = upstream.received.length;
    for (const [order, code] of [
      [orderOf(inPkcs10, { subject: parseDistinguishedName('CN=another') }), 'badCsr'],
      [orderOf(inCrmf, { subject: parseDistinguishedName('CN=another') }), 'badCsr'],
      [orderOf(vouched), 'unsupported'],
    ] as const) {
      expect(() => issuer().check!(order)).toThrow(expect.objectContaining({ code }));
    }
    expect(upstream.received).toHaveLength(before);
  });

  test('has the profile of the upstream CA, its recipient, and the configured version', async () => {
    const recipient = parseDistinguishedName('CN=Corporate CA');
    await issuer({ profile: 'machines', recipient, pvno: 3 }).issue(orderOf(inPkcs10));
    const { header } = last();
    expect(findValue(header.generalInfo, infoTypes.certProfile)).toEqual(['machines']);
    expect([header.pvno, header.recipient]).toEqual([3, { kind: 'directory', value: recipient }]);
  });

  test('can be protected in each way, with the configured part of our chain', async () => {
    const mac = bySecret(upstream.secret);
    if (mac.kind !== 'mac') throw new Error('no MAC');
    await issuer({ identity: { ...mac, parameters: pbmac1 } }).issue(orderOf(inPkcs10));
    const identity = byCertificate(upstream);
    const [own, above] = identity.credential.certificates;
    for (const [extraCerts, sent] of [
      ['chain', [own!, above!]],
      ['certificate', [own!]],
    ] as const) {
      await issuer({ identity, extraCerts }).issue(orderOf(inPkcs10));
      expect(last().extraCerts).toEqual(sent);
    }
    for (const type of ['rsa-2048', 'p-384', 'ed25519'] as const) {
      await issuedBy(issuer({ identity: byCertificate(upstream, testKey(type)) }).issue(orderOf(inPkcs10)));
    }
  });
});

describe('a repeated order', () => {
  for (const [what, options] of [
    ['by a secret', () => ({})],
    ['by a certificate of ECDSA', bySignature],
    ['by a certificate of RSA', () => ({ identity: byCertificate(upstream, testKey('rsa-2048')) })],
  ] as const) {
    test(`${what} is the same message at any instance, and gets the same certificate`, async () => {
      const order = orderOf(inPkcs10);
      const chosen = options();
      const count = upstream.issued.length;
      const first = await issuedBy(issuer(chosen).issue(order));
      const { der } = last();
      const second = await issuedBy(issuer(chosen).issue(order));
      expect(last().der).toEqual(der);
      expect(second.certificate).toEqual(first.certificate);
      expect(upstream.issued).toHaveLength(count + 1);
      // The confirmation as well.
      await issuer(chosen).confirm!(first.confirm!, first.certificate, true);
      const confirmation = last().der;
      await issuer(chosen).confirm!(second.confirm!, second.certificate, true);
      expect(last().der).toEqual(confirmation);
    });
  }

  test('that the upstream CA does not answer twice fails with that reason', async () => {
    upstream.script((_, say) => say({ type: 'error', status: rejection('transactionIdInUse') }));
    expect(await faultOf(issuer().issue(orderOf(inPkcs10)))).toEqual([
      'forbidden',
      'the upstream CA has already processed this request, but its response was lost',
    ]);
  });

  test('for another request is another transaction', async () => {
    const one = issuer();
    await one.issue(orderOf(inPkcs10));
    const { transactionID, senderNonce } = last().header;
    await one.issue(orderOf(inPkcs10));
    expect(last().header.transactionID).not.toEqual(transactionID!);
    expect(last().header.senderNonce).not.toEqual(senderNonce!);
  });
});

describe('a deferred request', () => {
  test('is polled for by any instance, with the last nonce, at the time that the upstream CA stated', async () => {
    upstream.script(waiting, later(40), later(9999));
    const order = orderOf(inPkcs10);
    let answer = await issuer().issue(order);
    const pauses: number[] = [];
    while (answer.kind === 'pending') {
      pauses.push(answer.retryAfter);
      answer = await issuer({}, true).poll!(answer.handle, order);
    }
    expect(pauses).toEqual([1, 40, 3600]);
    const questions = upstream.received.filter(({ body }) => body.type === 'pollReq').slice(-3);
    expect(new Set(questions.map(({ header }) => Buffer.from(header.recipNonce!).toString('hex'))).size).toBe(
      3,
    );
    expect(answer.certificate).toEqual(upstream.issued.at(-1)!);
  });

  test('as a whole (RFC 9483 §4.4) is polled for with certReqId -1', async () => {
    upstream.script((_, say) => say({ type: 'error', status: { status: 'waiting' } }));
    const order = orderOf(inCrmf);
    const answer = await issuer().issue(order);
    if (answer.kind !== 'pending') throw new Error('not pending');
    await issuedBy(issuer().poll!(answer.handle, order));
    expect(last().body).toEqual({ type: 'pollReq', certReqIds: [-1] });
  });

  test('that is finally rejected is over', async () => {
    upstream.script(waiting, (_, say) => say({ type: 'error', status: rejection('badCertTemplate', 'no') }));
    const answer = await issuer().issue(orderOf(inPkcs10));
    if (answer.kind !== 'pending') throw new Error('not pending');
    expect(await faultOf(issuer().poll!(answer.handle, orderOf(inPkcs10)))).toEqual([
      'badCsr',
      'the upstream CA rejected the request (badCertTemplate): no',
    ]);
  });
});

const stranger = () => ({ certificate: upstream.ca.impostor.certificate, key: upstream.ca.impostor.key });
const device = () => {
  const its = testKey('p-256', 'some device');
  return { certificate: upstream.ca.certify(verifyPkcs10(pkcs10(its, 'CN=some device'))), key: its };
};
const untrusted = 'the response of the upstream CA is not trusted: ';

describe('a response', () => {
  const usual = (message: Parameters<CmpScript>[0]) =>
    answerTo(message, upstream.ca.certify(requestOf(message)));
  const rows: readonly (readonly [string, CmpScript, readonly [string, string]])[] = [
    [
      'of another transaction',
      (message, say) => say(usual(message), { header: { transactionID: new Uint8Array(16) } }),
      ['unavailable', 'the upstream CA responded with another transactionID'],
    ],
    [
      'to another message',
      (message, say) => say(usual(message), { header: { recipNonce: new Uint8Array(16) } }),
      ['unavailable', 'the upstream CA responded with another recipNonce'],
    ],
    [
      'without our nonce',
      (message, say) => say(usual(message), { header: { recipNonce: undefined } }),
      ['unavailable', 'the upstream CA responded with another recipNonce'],
    ],
    [
      'of version 1',
      (message, say) => say(usual(message), { header: { pvno: 1 } }),
      ['malformed', 'the upstream CA responded in version 1 of CMP, which is not supported'],
    ],
    [
      'that cannot be gone on with',
      (message, say) =>
        say(answerTo(message, undefined, { status: 'waiting' }), { header: { senderNonce: undefined } }),
      ['malformed', 'the upstream CA responded without a senderNonce'],
    ],
    [
      'to another request',
      (_, say) =>
        say({ type: 'cp', caPubs: [], responses: [{ certReqId: 7, status: { status: 'accepted' } }] }),
      ['malformed', 'the upstream CA responded another request (certReqId)'],
    ],
    [
      'with two certificates',
      (message, say) => {
        const one = usual(message);
        if (one.type !== 'cp') throw new Error(one.type);
        return say({ ...one, responses: [...one.responses, ...one.responses] });
      },
      ['malformed', 'the upstream CA responded without exactly one certificate'],
    ],
    [
      'without its certificate',
      (message, say) => say(answerTo(message, undefined)),
      ['malformed', 'the upstream CA responded that a certificate was issued, but did not include it'],
    ],
    [
      'of another kind',
      (_, say) => say({ type: 'pkiConf' }),
      ['malformed', 'the upstream CA responded a message of type pkiConf'],
    ],
    [
      'without protection',
      (message, say) => say(usual(message), { protection: 'none' }),
      ['unavailable', `${untrusted}a message of type cp without protection`],
    ],
    [
      'by a secret that is not shared',
      (message, say) => say(usual(message), { protection: 'mac' }),
      ['unavailable', `${untrusted}it is protected by a MAC, but no shared secret is configured`],
    ],
    [
      'by a CA of the same name',
      (message, say) => say(usual(message), { signer: stranger() }),
      ['unavailable', untrusted],
    ],
    [
      'by another device of the same CA',
      (message, say) => say(usual(message), { signer: device() }),
      ['unavailable', `${untrusted}its signer is not authorized to act for a CA (id-kp-cmcCA)`],
    ],
    [
      'by somebody who shows the certificate of the upstream',
      (message, say) =>
        say(usual(message), { signer: { certificate: upstream.signer.certificate, key: stranger().key } }),
      ['unavailable', `${untrusted}its signature is wrong`],
    ],
    [
      'whose signer is not there',
      (message, say) => say(usual(message), { extraCerts: [] }),
      ['unavailable', `${untrusted}CMP: extraCerts must contain the signer's certificate`],
    ],
    [
      'that redirects',
      () => new Response(null, { status: 307, headers: { location: upstream.url } }),
      ['unavailable', 'the upstream CA responded with status 307: redirects are not followed'],
    ],
    [
      'of HTML',
      () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
      ['malformed', 'the upstream CA did not send a CMP response: text/html'],
    ],
    [
      'of more than a mebibyte',
      () => cmpResponse('A'.repeat(2_000_000)),
      ['malformed', 'the response of the upstream CA is too large'],
    ],
    [
      'that is cut off',
      async (message, say) => cmpResponse((await say(usual(message))).subarray(0, 300)),
      ['malformed', 'the response of the upstream CA cannot be parsed'],
    ],
    [
      'of 404',
      () => new Response(null, { status: 404 }),
      ['unavailable', 'the upstream CA responded with status 404'],
    ],
    [
      'of 403',
      () => new Response(null, { status: 403 }),
      ['forbidden', 'the upstream CA responded with status 403'],
    ],
    [
      'of 503',
      () => new Response(null, { status: 503 }),
      ['unavailable', 'the upstream CA responded with status 503'],
    ],
    [
      'of 400 with an error of CMP in it',
      async (_, say) =>
        cmpResponse(await say({ type: 'error', status: rejection('badDataFormat', 'what?\u0007') }), 400),
      ['forbidden', 'the upstream CA rejected the request (badDataFormat): what?'],
    ],
  ];
  for (const [what, script, [code, detail]] of rows) {
    test(`${what} is ${code}`, async () => {
      const one = issuer(bySignature());
      await one.chain();
      upstream.always(script);
      // The CA certificates are already known.
      const fault = await faultOf(one.issue(orderOf(inPkcs10)));
      upstream.always(undefined);
      expect([fault[0], fault[1].slice(0, detail.length)]).toEqual([code, detail]);
    });
  }

  test('with an invalid MAC is not trusted', async () => {
    const wrong = issuer({ identity: bySecret('another secret') });
    expect(await faultOf(wrong.issue(orderOf(inPkcs10)))).toEqual([
      'unavailable',
      'the upstream CA rejects the credentials of this gateway (badMessageCheck)',
    ]);
    const one = issuer();
    await one.chain();
    upstream.always((message, say) =>
      say(usual(message), {
        protection: 'mac',
        header: { senderKID: Buffer.from('x') },
      }).then((octets) => octets.with(octets.length - 1, octets.at(-1)! ^ 1)),
    );
    const fault = await faultOf(one.issue(orderOf(inPkcs10)));
    upstream.always(undefined);
    expect(fault).toEqual(['unavailable', `${untrusted}its MAC is wrong`]);
  });

  for (const [what, tolerances, script] of [
    [
      'with another senderKID',
      { anySenderKid: true },
      (message, say) => say(usual(message), { header: { senderKID: Buffer.from('another') } }),
    ],
    [
      'with the signer’s certificate at the end',
      { anyCertificateOrder: true },
      (message, say) =>
        say(usual(message), { extraCerts: [upstream.ca.issuing, upstream.signer.certificate] }),
    ],
    ['by any signer', { anySigner: true }, (message, say) => say(usual(message), { signer: device() })],
  ] as const satisfies readonly (readonly [string, Partial<RemoteCmpOptions['tolerances']>, CmpScript])[]) {
    test(`${what} is accepted only when configured`, async () => {
      for (const [chosen, expected] of [
        [{ ...strict, ...tolerances }, 'issued'],
        [strict, 'unavailable'],
      ] as const) {
        const one = issuer({ ...bySignature(), tolerances: chosen });
        await one.chain();
        upstream.always(script);
        const outcome = await one.issue(orderOf(inPkcs10)).then(
          ({ kind }) => kind,
          ({ code }) => code,
        );
        upstream.always(undefined);
        expect(outcome).toBe(expected);
      }
    });
  }
});

describe('the CA certificates', () => {
  test('are those of the upstream CA with the pinned root, or the configured ones', async () => {
    const whole = [upstream.ca.issuing, upstream.ca.root];
    for (const options of [
      {},
      bySignature(),
      { trust: { kind: 'anchors', certificates: [upstream.ca.root] } },
      { caCertificates: whole },
    ] satisfies Partial<RemoteCmpOptions>[]) {
      expect(await issuer(options).chain()).toEqual(whole);
    }
  });

  test('are not trusted without the fingerprint', async () => {
    const trust = { kind: 'fingerprint', sha256: fingerprint(upstream.ca.impostor.certificate) } as const;
    for (const options of [{ trust }, { ...bySignature(), trust }]) {
      expect(await faultOf(issuer(options).chain())).toEqual([
        'unavailable',
        'none of the CA certificates of the upstream CA has the configured fingerprint',
      ]);
    }
  });

  /** 15 CAs of one name, 15 CAs below one of that name, and the root: each of 225 pairs takes a signature check. */
  function manyNamesakes(): readonly Uint8Array[] {
    const [root, below] = [party('CN=Root'), party('CN=A')];
    // Other tests move the clock.
    const order = { ca: true, notBefore: clock.now() - day, notAfter: clock.now() + day };
    const many = (make: (n: number) => Certificate) => Array.from({ length: 15 }, (_, n) => make(n).der);
    return [
      ...many(() => certificate(party('CN=A'), root, order)),
      ...many((n) => certificate(party(`CN=${n}`), below, order)),
      certificate(root, root, order).der,
    ];
  }

  test('are rejected if it takes too many signature checks to put them in order', async () => {
    const trust = { kind: 'anchors', certificates: [upstream.ca.root] } as const;
    upstream.always((_, say) =>
      say({ type: 'genp', infos: [typedValue(infoTypes.caCerts, manyNamesakes())] }),
    );
    const [code, detail] = await faultOf(issuer({ trust }).chain());
    upstream.always(undefined);
    expect([code, detail]).toEqual(['malformed', expect.stringContaining('more than 200 signature checks')]);
  });

  test('are taken from caCerts alone, whatever stands in extraCerts', async () => {
    const trust = { kind: 'anchors', certificates: [upstream.ca.root] } as const;
    const infos = [typedValue(infoTypes.caCerts, [upstream.ca.issuing, upstream.ca.root])];
    upstream.always((_, say) => say({ type: 'genp', infos }, { extraCerts: manyNamesakes() }));
    const chain = await issuer({ trust }).chain();
    upstream.always(undefined);
    expect(chain).toEqual([upstream.ca.issuing, upstream.ca.root]);
  });

  for (const [what, script, detail] of [
    [
      'that it does not name',
      (_, say) => say({ type: 'genp', infos: [{ type: infoTypes.caCerts.oid }] }),
      'the upstream CA does not send its CA certificates: configure ca_certificates',
    ],
    [
      'that are none',
      (_, say) => say({ type: 'pkiConf' }),
      'the upstream CA responded to a general message with pkiConf',
    ],
  ] as const satisfies readonly (readonly [string, CmpScript, string])[]) {
    test(`${what} are reported as missing`, async () => {
      upstream.always(script);
      const trust = { kind: 'anchors', certificates: [upstream.ca.root] } as const;
      const fault = await faultOf(issuer({ trust }).chain());
      upstream.always(undefined);
      expect(fault).toEqual(['malformed', detail]);
    });
  }
});

describe('a confirmation', () => {
  const given = async (options: Partial<RemoteCmpOptions> = {}) => {
    const one = issuer(options);
    const answer = await issuedBy(one.issue(orderOf(inPkcs10)));
    return { one, answer };
  };

  test('accepts or rejects the certificate', async () => {
    const { one, answer } = await given();
    for (const accepted of [true, false]) {
      await one.confirm!(answer.confirm!, answer.certificate, accepted);
      const { body } = last();
      if (body.type !== 'certConf') throw new Error(body.type);
      expect(body.statuses).toHaveLength(1);
      expect(body.statuses[0]!.statusInfo?.status).toBe(accepted ? undefined : 'rejection');
    }
  });

  test('is not sent when the upstream CA needs none', async () => {
    upstream.script((message, say) =>
      say(answerTo(message, upstream.ca.certify(requestOf(message))), {
        header: { generalInfo: message.header.generalInfo },
      }),
    );
    const { answer } = await given({ implicitConfirm: true });
    expect(answer.confirm).toBeUndefined();
  });

  for (const [what, script, options, expected] of [
    [
      'that had come before',
      (_, say) => say({ type: 'error', status: rejection('certConfirmed') }),
      {},
      undefined,
    ],
    ['that is refused', (_, say) => say({ type: 'error', status: rejection('badCertId') }), {}, 'forbidden'],
    [
      'whose answer is not protected',
      (_, say) => say({ type: 'pkiConf' }, { protection: 'none' }),
      {},
      'unavailable',
    ],
    [
      'whose answer need not be protected',
      (_, say) => say({ type: 'pkiConf' }, { protection: 'none' }),
      { tolerances: { ...strict, unprotectedConfirmations: true } },
      undefined,
    ],
  ] as const satisfies readonly (readonly [
    string,
    CmpScript,
    Partial<RemoteCmpOptions>,
    string | undefined,
  ])[]) {
    test(`${what}: ${expected ?? 'in order'}`, async () => {
      const { one, answer } = await given(options);
      upstream.always(script);
      const outcome = await one.confirm!(answer.confirm!, answer.certificate, true).then(
        () => undefined,
        ({ code }) => code,
      );
      upstream.always(undefined);
      expect(outcome).toBe(expected);
    });
  }
});

describe('a revocation', () => {
  test('has the certificate and the reason', async () => {
    const one = issuer();
    const { certificate } = await issuedBy(one.issue(orderOf(inPkcs10)));
    await one.revoke!(certificate, 'keyCompromise');
    const { body } = last();
    if (body.type !== 'rr') throw new Error(body.type);
    const [{ certDetails, crlEntryDetails }] = body.requests as [(typeof body.requests)[number]];
    const { issuer: by, serial } = parseCertificate(certificate);
    expect([certDetails.issuer, certDetails.serial]).toEqual([by, serial]);
    expect(crlEntryDetails.map(({ value }) => Buffer.from(value).toString('hex'))).toEqual(['0a0101']);
  });

  const rp =
    (failure: Parameters<typeof rejection>[0]): CmpScript =>
    (_, say) =>
      say({ type: 'rp', statuses: [rejection(failure)], revCerts: [], crls: [] });
  for (const [what, script, reason, expected] of [
    ['that had been made before', rp('certRevoked'), 'superseded', undefined],
    ['undone that cannot be', rp('certRevoked'), 'removeFromCRL', 'forbidden'],
    ['that is refused', rp('notAuthorized'), 'superseded', 'forbidden'],
    ['that has to be signed', rp('wrongIntegrity'), 'superseded', 'unsupported'],
    [
      'that somebody has to decide on',
      (_, say) => say({ type: 'error', status: { status: 'waiting' } }),
      'superseded',
      'unavailable',
    ],
    ['answered by something else', (_, say) => say({ type: 'pkiConf' }), 'superseded', 'malformed'],
  ] as const satisfies readonly (readonly [
    string,
    CmpScript,
    'superseded' | 'removeFromCRL',
    string | undefined,
  ])[]) {
    test(`${what}: ${expected ?? 'in order'}`, async () => {
      const one = issuer();
      await one.chain();
      upstream.always(script);
      const outcome = await one.revoke!(upstream.ca.issuing, reason).then(
        () => undefined,
        ({ code }) => code,
      );
      upstream.always(undefined);
      expect(outcome).toBe(expected);
    });
  }
});

describe("the gateway's own certificate", () => {
  test('is renewed automatically when two thirds of its validity are over, and used from then on, also after a restart', async () => {
    const identity = byCertificate(upstream);
    const one = issuer({ identity });
    clock.advance(199 * day);
    const before = upstream.received.length;
    await one.maintain!();
    expect(upstream.received).toHaveLength(before);
    clock.advance(2 * day);
    await one.maintain!();
    const [update, confirmation, ...more] = upstream.received.slice(-2);
    expect(more).toEqual([]);
    expect([update!.body.type, confirmation!.body.type]).toEqual(['kur', 'certConf']);
    expect(update!.extraCerts[0]).toEqual(identity.credential.certificates[0]!);
    const renewed = upstream.issued.at(-1)!;
    for (const each of [one, issuer({ identity }, true)]) {
      await each.issue(orderOf(inPkcs10));
      expect(last().extraCerts[0]).toEqual(renewed);
    }
    expect(await one.health()).toEqual({ ok: true });
  });

  test('is requested with the same key until it is issued, and confirmed', async () => {
    const one = issuer({ identity: byCertificate(upstream) });
    clock.advance(201 * day);
    upstream.script(() => new Response(null, { status: 503 }), waiting, later(120));
    expect((await faultOf(one.maintain!()))[0]).toBe('unavailable');
    expect(await one.health()).toMatchObject({ ok: false });
    const { der } = last();
    clock.advance(61_000);
    await one.maintain!();
    expect(last().der).toEqual(der);
    clock.advance(2000);
    await one.maintain!();
    clock.advance(119_000);
    const count = upstream.received.length;
    await one.maintain!();
    expect(upstream.received).toHaveLength(count);
    clock.advance(2000);
    await one.maintain!();
    expect(last().body.type).toBe('certConf');
    expect(await one.health()).toEqual({ ok: true });
  });

  test('for another key is rejected; an expired one is reported', async () => {
    const identity = byCertificate(upstream);
    const one = issuer({ identity });
    clock.advance(201 * day);
    upstream.script((message, say) => {
      const { publicKey } = testKey('p-256', 'somebody else');
      return say(answerTo(message, upstream.ca.certify({ ...requestOf(message), publicKey })));
    });
    expect((await faultOf(one.maintain!()))[0]).toBe('malformed');
    await one.issue(orderOf(inPkcs10));
    expect(last().extraCerts[0]).toEqual(identity.credential.certificates[0]!);
    clock.advance(200 * day);
    expect(await one.health()).toEqual({
      ok: false,
      detail: 'the client certificate for the upstream CA has expired',
    });
  });

  test('is part of the description of the upstream CA; a shared secret is not', async () => {
    const { url } = upstream;
    const identity = byCertificate(upstream);
    expect(await issuer({ identity, profile: 'machines' }).describe!()).toEqual({
      url,
      profile: 'machines',
      clientCertificate: identity.credential.certificates[0]!,
    });
    expect(await issuer({ identity: bySecret(upstream.secret) }).describe!()).toEqual({
      url,
      profile: undefined,
      clientCertificate: undefined,
    });
  });

  test('is not renewed when the configuration says so', async () => {
    const one = issuer({ identity: { ...byCertificate(upstream), renew: false } });
    clock.advance(201 * day);
    const before = upstream.received.length;
    await one.maintain!();
    expect(upstream.received).toHaveLength(before);
  });
});

test('a certificate without digitalSignature does not sign responses', async () => {
  const its = testKey('p-256', 'wrong use');
  const certificate = upstream.ca.certify(verifyPkcs10(pkcs10(its, 'CN=Upstream CMP')), {
    extensions: [keyUsageExtension(['keyAgreement'])],
  });
  const one = issuer({ ...bySignature(), serverName: parseDistinguishedName('CN=Upstream CMP') });
  await one.chain();
  upstream.script((message, say) =>
    say(answerTo(message, upstream.ca.certify(requestOf(message))), { signer: { certificate, key: its } }),
  );
  expect(await faultOf(one.issue(orderOf(inPkcs10)))).toEqual([
    'unavailable',
    `${untrusted}the key usage of its signer lacks digitalSignature`,
  ]);
});
