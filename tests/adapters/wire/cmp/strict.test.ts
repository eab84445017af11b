import { describe, expect, test } from 'bun:test';
import { addPkiBody, type PkiBody, parsePkiBody } from '#adapters/wire/cmp/body.ts';
import { controlTypes } from '#adapters/wire/cmp/controls.ts';
import type { PkiHeader } from '#adapters/wire/cmp/header.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import { type MacParameters, macAlgorithm, readMacAlgorithm } from '#adapters/wire/cmp/mac.ts';
import { buildPkiMessage, type PkiMessage, parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import { findValue, typedValue, type ValueKind } from '#adapters/wire/cmp/typed-value.ts';
import { der } from '#core/der/builder.ts';
import { hex } from '#core/der/bytes.ts';
import { Fault } from '#core/fault.ts';
import { parseCertTemplate } from '#core/x509/crmf.ts';
import { buildCertTemplate } from '#core/x509/crmf-builder.ts';
import { withSomethingAdded } from '#tests/fixtures/added-element.ts';
import { bodiesOf4210, bodiesOf9810, certificate, header, issuer } from './samples.ts';

const bodies = [...bodiesOf4210, ...bodiesOf9810];
const encodedBody = (body: PkiBody): Uint8Array => der((b) => addPkiBody(b, body));
const row = <T>(name: string, kind: ValueKind<T>, value: NoInfer<T>) =>
  [name, kind as ValueKind<unknown>, value as unknown] as const;
const location = { kind: 'uri', value: 'x' } as const;
const key = { kind: 'encryptedValue', der: certificate } as const;
const values = [
  row('caKeyUpdateInfo', infoTypes.caKeyUpdateInfo, {
    version: 2,
    update: { oldWithNew: certificate, newWithOld: certificate, newWithNew: certificate },
  }),
  row('rootCaKeyUpdate', infoTypes.rootCaKeyUpdate, {
    newWithNew: certificate,
    newWithOld: certificate,
    oldWithNew: certificate,
  }),
  row('implicitConfirm', infoTypes.implicitConfirm, true),
  row('certReqTemplate', infoTypes.certReqTemplate, {
    template: parseCertTemplate(buildCertTemplate({ issuer })),
    keySpec: [typedValue(controlTypes.rsaKeyLen, 3072)],
  }),
  row('crlStatusList', infoTypes.crlStatusList, [
    { source: { kind: 'distributionPoint', names: [location] }, thisUpdate: Date.UTC(2026, 0) },
    { source: { kind: 'issuer', names: [location] } },
  ]),
  row('pkiPublicationInfo', controlTypes.pkiPublicationInfo, {
    publish: true,
    places: [{ method: 'web', location }, { method: 'dontCare' }],
  }),
  row('pkiArchiveOptions', controlTypes.pkiArchiveOptions, { kind: 'encryptedPrivKey', key }),
  row('oldCertID', controlTypes.oldCertId, { issuer: location, serial: Uint8Array.of(7) }),
];
const salt = new Uint8Array(16);
const pbm: MacParameters = { kind: 'passwordBasedMac', salt, owf: 'sha256', iterations: 500, mac: 'sha256' };
const pbmac1: MacParameters = {
  kind: 'pbmac1',
  salt,
  iterations: 1000,
  keyLength: 32,
  prf: 'sha256',
  mac: 'sha256',
};

function unlessMalformed<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault && error.code === 'malformed') return undefined;
    throw error;
  }
}

describe('a NULL appended to any element', () => {
  test.each(bodies.map((body) => [body.type, encodedBody(body)] as const))(
    'of the body %s is rejected or kept, never ignored',
    (_type, encoded) => {
      const altered = withSomethingAdded(encoded);
      expect(altered.length).toBeGreaterThan(0);
      for (const one of altered) {
        const read = unlessMalformed(() => parsePkiBody(one));
        if (read) expect(hex(encodedBody(read))).toBe(hex(one));
      }
    },
  );

  test('of a message outside the body is rejected or kept, never ignored', async () => {
    const rebuilt = (read: PkiMessage): Promise<Uint8Array> =>
      buildPkiMessage(read.header, read.body, {
        protector: { algorithm: read.header.protectionAlg!, protect: () => read.protection! },
        extraCerts: read.extraCerts,
      });
    const protector = { algorithm: macAlgorithm(pbm), protect: () => new Uint8Array(20) };
    const body = { type: 'pkiConf' } as const;
    const message = await buildPkiMessage(header, body, { protector, extraCerts: [certificate] });
    for (const altered of withSomethingAdded(message)) {
      const read = unlessMalformed(() => parsePkiMessage(altered));
      if (read) expect(hex(await rebuilt(read))).toBe(hex(altered));
    }
  });

  test.each(values)('of the value %s is rejected or kept, never ignored', (_name, kind, value) => {
    for (const altered of withSomethingAdded(typedValue(kind, value).value)) {
      const read = unlessMalformed(() => findValue([{ type: kind.oid, value: altered }], kind));
      if (read !== undefined) expect(hex(typedValue(kind, read).value)).toBe(hex(altered));
    }
  });

  test.each([
    ['passwordBasedMac', pbm, 1],
    ['pbmac1', pbmac1, 0],
  ] as const)(
    'of the algorithm %s is rejected, except as the parameters of a hash',
    (_kind, parameters, accepted) => {
      const altered = withSomethingAdded(macAlgorithm(parameters));
      const read = altered.filter((one) => unlessMalformed(() => readMacAlgorithm(one)) !== undefined);
      expect(read).toHaveLength(accepted);
    },
  );
});

describe('limits', () => {
  const many = <T>(count: number, value: T): T[] => new Array(count).fill(value);
  const body = (build: (count: number) => PkiBody) => (count: number) => {
    parsePkiBody(encodedBody(build(count)));
  };
  const value =
    <T>(kind: ValueKind<T>, build: (count: number) => T) =>
    (count: number) =>
      findValue([typedValue(kind, build(count))], kind);
  const list = <T>(kind: ValueKind<readonly T[]>, member: T) => value(kind, (count) => many(count, member));
  const message =
    (changed: (count: number) => Partial<PkiHeader>, extraCerts = 0) =>
    async (count: number) => {
      const certificates = many(extraCerts && count, certificate);
      const conf = { type: 'pkiConf' } as const;
      parsePkiMessage(
        await buildPkiMessage({ ...header, ...changed(count) }, conf, { extraCerts: certificates }),
      );
    };
  const status = { status: 'accepted' } as const;
  const certId = { issuer: location, serial: Uint8Array.of(7) };
  const info = { type: '1.2.3' };
  const response = { certReqId: 0, status };
  const poll = { certReqId: 0, checkAfter: 0 };
  const revocation = (changed: (count: number) => object) =>
    body((n) => ({ type: 'rp', statuses: [status], revCerts: [], crls: [], ...changed(n) }));
  const recovery = (changed: (count: number) => object) =>
    body((n) => ({ type: 'krp', status, caCerts: [], keyPairHist: [], ...changed(n) }));

  test.each<[what: string, most: number, read: (count: number) => unknown]>([
    ['requests', 16, body((n) => ({ type: 'ir', requests: many(n, certificate) }))],
    ['caPubs', 32, body((n) => ({ type: 'ip', caPubs: many(n, certificate), responses: [] }))],
    ['responses', 16, body((n) => ({ type: 'ip', caPubs: [], responses: many(n, response) }))],
    [
      'challenges',
      16,
      body((n) => ({ type: 'popdecc', challenges: many(n, { witness: salt, challenge: salt }) })),
    ],
    ['responses to challenges', 16, body((n) => ({ type: 'popdecr', responses: many(n, 1n) }))],
    [
      'octets of a response to a challenge',
      16,
      body((n) => ({ type: 'popdecr', responses: [1n << BigInt(8 * n - 2)] })),
    ],
    ['caCerts of a key recovery', 32, recovery((n) => ({ caCerts: many(n, certificate) }))],
    ['key pairs of a key recovery', 16, recovery((n) => ({ keyPairHist: many(n, { certificate }) }))],
    ['revocation statuses', 16, revocation((n) => ({ statuses: many(n, status) }))],
    ['revoked certificates', 16, revocation((n) => ({ revCerts: many(n, certId) }))],
    ['CRLs of a revocation response', 16, revocation((n) => ({ crls: many(n, certificate) }))],
    ['CRLs of an announcement', 16, body((n) => ({ type: 'crlann', crls: many(n, certificate) }))],
    ['entries of genm', 64, body((n) => ({ type: 'genm', infos: many(n, info) }))],
    [
      'certConf statuses',
      16,
      body((n) => ({ type: 'certConf', statuses: many(n, { certHash: salt, certReqId: 0 }) })),
    ],
    ['poll requests', 16, body((n) => ({ type: 'pollReq', certReqIds: many(n, 0) }))],
    ['poll responses', 16, body((n) => ({ type: 'pollRep', polls: many(n, poll) }))],
    [
      'seconds of checkAfter',
      2 ** 31 - 1,
      body((n) => ({ type: 'pollRep', polls: [{ certReqId: 0, checkAfter: n }] })),
    ],
    ['certReqId', 2 ** 31 - 1, body((n) => ({ type: 'pollReq', certReqIds: [n] }))],
    ['lines of freeText', 32, message((n) => ({ freeText: many(n, 'x') }))],
    ['entries of generalInfo', 64, message((n) => ({ generalInfo: many(n, info) }))],
    [
      'octets of generalInfo',
      64 * 1024,
      message((n) => ({
        generalInfo: [{ type: '1.2.3', value: der((b) => b.octetString(new Uint8Array(n - 16))) }],
      })),
    ],
    ['octets of a nonce', 512, message((n) => ({ senderNonce: new Uint8Array(n) }))],
    ['octets of a transactionID', 512, message((n) => ({ transactionID: new Uint8Array(n) }))],
    ['extraCerts', 32, message(() => ({}), 1)],
    ['caCerts', 64, list(infoTypes.caCerts, certificate)],
    ['CRLs', 16, list(infoTypes.crls, certificate)],
    [
      'entries of crlStatusList',
      16,
      list(infoTypes.crlStatusList, { source: { kind: 'issuer', names: [location] } }),
    ],
    ['language tags', 64, list(infoTypes.suppLangTags, 'de')],
    ['unsupported OIDs', 64, list(infoTypes.unsupportedOids, '1.2.3')],
    [
      'entries of keySpec',
      64,
      value(infoTypes.certReqTemplate, (n) => ({
        template: parseCertTemplate(buildCertTemplate({ issuer })),
        keySpec: many(n, info),
      })),
    ],
    [
      'publication places',
      16,
      value(controlTypes.pkiPublicationInfo, (n) => ({
        publish: true,
        places: many(n, { method: 'web' } as const),
      })),
    ],
    ['rsaKeyLen', 2 ** 16, value(controlTypes.rsaKeyLen, (n) => n)],
  ])('%s: %d is accepted, one more is malformed', async (_what, most, read) => {
    await read(most);
    const tooMany = (async () => await read(most + 1))();
    await expect(tooMany).rejects.toMatchObject({ code: 'malformed' });
  });

  test.each<[what: string, least: number, most: number, parameters: (count: number) => MacParameters]>([
    ['iterations', 100, 100_000, (iterations) => ({ ...pbm, iterations })],
    ['iterations of PBKDF2', 100, 1_000_000, (iterations) => ({ ...pbmac1, iterations })],
    ['octets of salt', 8, 128, (n) => ({ ...pbm, salt: new Uint8Array(n) })],
    ['octets of salt of PBKDF2', 8, 128, (n) => ({ ...pbmac1, salt: new Uint8Array(n) })],
    ['octets of key', 16, 128, (keyLength) => ({ ...pbmac1, keyLength })],
  ])('%s of a MAC: %d to %d are accepted', (_what, least, most, parameters) => {
    const read = (count: number) => readMacAlgorithm(macAlgorithm(parameters(count)));
    for (const count of [least, most]) expect(read(count)).toEqual(parameters(count));
    for (const count of [least - 1, most + 1])
      expect(() => read(count)).toThrow(expect.objectContaining({ code: 'badAlgorithm' }));
  });
});
