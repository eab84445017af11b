import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { addPkiBody } from '#adapters/wire/cmp/body.ts';
import { buildPkiMessage, openPkiMessage, parsePkiMessage } from '#adapters/wire/cmp/message.ts';
import { readProtection } from '#adapters/wire/cmp/protection.ts';
import { type DerBuilder, der } from '#core/der/builder.ts';
import { Fault } from '#core/fault.ts';
import { parseCertReqMsg } from '#core/x509/crmf.ts';
import { processorTime } from '#tests/processor-time.ts';
import { runs } from '#tests/property.ts';
import { bodiesOf4210, bodiesOf9810, certificate, header } from './samples.ts';
import { messageNames, vector } from './vectors.ts';

const ir = parsePkiMessage(vector('ir-mac-1.req.der'));
if (ir.body.type !== 'ir') throw new Error(ir.body.type);
const [request] = ir.body.requests as [Uint8Array];
const many = <T>(count: number, value: T): T[] => new Array(count).fill(value);
const nest = async (depth: number): Promise<Uint8Array> => {
  let message = ir.der;
  for (let i = 0; i < depth; i++)
    message = await buildPkiMessage(header, { type: 'nested', messages: [message] });
  return message;
};
const pkiConf = { type: 'pkiConf' } as const;

/** Returns nested SEQUENCEs. */
function sequences(depth: number): Uint8Array {
  let inner: Uint8Array = Uint8Array.of(0x30, 0);
  for (let i = 0; i < depth; i++) {
    const around = inner;
    inner = der((b) => b.sequence(around));
  }
  return inner;
}

describe('rejected immediately', () => {
  const withInfo = (generalInfo: { type: string; value?: Uint8Array }[]) =>
    buildPkiMessage({ ...header, generalInfo }, pkiConf);

  test.each<[what: string, message: Uint8Array | Promise<Uint8Array>]>([
    [
      'a generalInfo of 100 KiB',
      withInfo([{ type: '1.2.3', value: der((b) => b.octetString(new Uint8Array(102_400))) }]),
    ],
    ['a generalInfo of 65 entries', withInfo(many(65, { type: '1.2.3' }))],
    ['a nonce of 513 octets', buildPkiMessage({ ...header, senderNonce: new Uint8Array(513) }, pkiConf)],
    ['a thousand requests', buildPkiMessage(header, { type: 'ir', requests: many(1000, request) })],
    ['17 requests', buildPkiMessage(header, { type: 'cr', requests: many(17, request) })],
    ['33 extra certificates', buildPkiMessage(header, pkiConf, { extraCerts: many(33, certificate) })],
    ['a thousand lines of free text', buildPkiMessage({ ...header, freeText: many(1000, 'x') }, pkiConf)],
    [
      'a thousand certConf entries',
      buildPkiMessage(header, {
        type: 'certConf',
        statuses: many(1000, { certHash: header.senderNonce!, certReqId: 0 }),
      }),
    ],
    ['a thousand polls', buildPkiMessage(header, { type: 'pollReq', certReqIds: many(1000, 0) })],
    ['a genm of 65 entries', buildPkiMessage(header, { type: 'genm', infos: many(65, { type: '1.2.3' }) })],
    ['a thousand nested messages', buildPkiMessage(header, { type: 'nested', messages: many(1000, ir.der) })],
    ['messages nested five deep', nest(5)],
    ['messages nested a hundred deep', nest(100)],
    ['10,000 SEQUENCEs in each other', sequences(10_000)],
    [
      'a popdecr with a number of 10,000 bits',
      buildPkiMessage(header, { type: 'popdecr', responses: [2n ** 10_000n] }),
    ],
    ['no request at all', buildPkiMessage(header, { type: 'ir', requests: [] })],
    [
      'no status of a revocation',
      buildPkiMessage(header, { type: 'rp', statuses: [], revCerts: [], crls: [] }),
    ],
  ])('%s', async (_what, message) => {
    const encoded = await message;
    const cost = await processorTime(() =>
      expect(() => parsePkiMessage(encoded)).toThrow(expect.objectContaining({ code: 'malformed' })),
    );
    expect(cost).toBeLessThan(250);
  });

  test('anything after the message', () => {
    expect(() => parsePkiMessage(Buffer.concat([ir.der, Uint8Array.of(0)]))).toThrow('trailing bytes');
  });
});

describe('accepted', () => {
  test.each<[what: string, message: Promise<Uint8Array>]>([
    ['messages nested four deep', nest(4)],
    ['16 requests', buildPkiMessage(header, { type: 'ir', requests: many(16, request) })],
    [
      'a certConf that rejects everything by naming nothing',
      buildPkiMessage(header, { type: 'certConf', statuses: [] }),
    ],
  ])('%s', async (_what, message) => {
    expect(parsePkiMessage(await message).header).toMatchObject({ pvno: 2 });
  });
});

describe('bodies', () => {
  const body = (n: number, content: (b: DerBuilder) => void): Uint8Array =>
    der((b) => b.sequence((s) => s.raw(openPkiMessage(bare).headerDer).explicit(n, content)));
  let bare: Uint8Array;

  test.each<[what: string, n: number, content: (b: DerBuilder) => void]>([
    ['an unknown kind', 27, (b) => void b.null()],
    ['two contents', 19, (b) => void b.null().null()],
    ['a pkiConf that is not NULL', 19, (b) => void b.sequence(() => {})],
    ['an unknown PKIStatus', 23, (b) => void b.sequence((s) => s.sequence((i) => i.integer(7)))],
    [
      'failInfo with trailing zero bits',
      23,
      (b) => void b.sequence((s) => s.sequence((i) => i.integer(2).bitString(Uint8Array.of(0x20, 0), 0))),
    ],
    [
      'failInfo with a 28th bit',
      23,
      (b) =>
        void b.sequence((s) => s.sequence((i) => i.integer(2).bitString(Uint8Array.of(0, 0, 0, 0x10), 4))),
    ],
    ['a certReqId of -2', 25, (b) => void b.sequence((s) => s.sequence((p) => p.integer(-2)))],
    ['a certReqId of 2^31', 25, (b) => void b.sequence((s) => s.sequence((p) => p.integer(2 ** 31)))],
    ['a checkAfter below 0', 26, (b) => void b.sequence((s) => s.sequence((p) => p.integer(0).integer(-1)))],
    [
      'a key pair without a certificate',
      1,
      (b) =>
        void b.sequence((s) =>
          s.sequence((r) =>
            r.sequence((c) =>
              c
                .integer(0)
                .sequence((i) => i.integer(0))
                .sequence(() => {}),
            ),
          ),
        ),
    ],
  ])('with %s are malformed', async (_what, n, content) => {
    bare = await buildPkiMessage(header, pkiConf);
    expect(() => parsePkiMessage(body(n, content))).toThrow(expect.objectContaining({ code: 'malformed' }));
  });
});

describe('arbitrary octets', () => {
  /** Returns a Fault, or undefined. */
  function parse(encoded: Uint8Array): void {
    try {
      const message = parsePkiMessage(encoded);
      readProtection(message);
      if ('requests' in message.body && message.body.type !== 'rr')
        message.body.requests.map(parseCertReqMsg);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      expect(['malformed', 'badAlgorithm']).toContain(error.code);
    }
  }

  test('give a message or a Fault', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), parse), runs(500));
  });

  test('in place of part of a message give a message or a Fault', () => {
    const originals = [
      ...messageNames.map(vector),
      ...[...bodiesOf4210, ...bodiesOf9810].map((body) =>
        der((b) =>
          b.sequence((s) => {
            s.raw(ir.headerDer);
            addPkiBody(s, body);
            s.raw(protection);
          }),
        ),
      ),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...originals),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        (original, changes) => {
          const altered = original.slice();
          for (const [at, octet] of changes) altered[at % altered.length] = octet;
          parse(altered);
        },
      ),
      runs(2000),
    );
  });
});

const protection = der((b) => b.explicit(0, (p) => p.bitString(new Uint8Array(20))));
