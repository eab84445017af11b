import { describe, expect, test } from 'bun:test';
import { bodyTypes, type PkiBody } from '#adapters/wire/cmp/body.ts';
import { controlTypes } from '#adapters/wire/cmp/controls.ts';
import { readExtraCerts } from '#adapters/wire/cmp/extra-certs.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import {
  buildPkiMessage,
  openPkiMessage,
  type PkiMessage,
  parsePkiMessage,
  type SealedPkiMessage,
} from '#adapters/wire/cmp/message.ts';
import { readProtection } from '#adapters/wire/cmp/protection.ts';
import { findValue, hasValue } from '#adapters/wire/cmp/typed-value.ts';
import { der } from '#core/der/builder.ts';
import { hex } from '#core/der/bytes.ts';
import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { parseCertReqMsg } from '#core/x509/crmf.ts';
import { readPublicKey, verifySignature } from '#core/x509/public-key.ts';
import { verifyCertReqMsg, verifyPkcs10 } from '#core/x509/request.ts';
import { openssl } from '#tests/fixtures/openssl.ts';
import { bodiesOf4210, bodiesOf9810, certificate, header } from './samples.ts';
import { messageNames, secret, vector } from './vectors.ts';

const recorded = (name: string): PkiMessage => parsePkiMessage(vector(name));

/** Returns the message as read and written again. */
const rebuilt = (message: PkiMessage): Promise<Uint8Array> =>
  buildPkiMessage(message.header, message.body, {
    protector: message.header.protectionAlg && {
      algorithm: message.header.protectionAlg,
      protect: () => message.protection!,
    },
    extraCerts: message.extraCerts,
  });

const caKey = readPublicKey(parseCertificate(vector('ca.crt.der')).spki);

async function isProtected(message: SealedPkiMessage): Promise<boolean> {
  const protection = readProtection(message);
  if (protection.kind === 'mac') return protection.verify(secret);
  return (
    protection.kind === 'signature' && protection.verify(readPublicKey(readExtraCerts(message).signer.spki))
  );
}

describe('messages of OpenSSL', () => {
  test.each(messageNames)(
    '%s is read, its protection is valid, and it is written with the same octets',
    async (name) => {
      const message = recorded(name);
      expect(await isProtected(message)).toBe(true);
      expect(hex(await rebuilt(message))).toBe(hex(vector(name)));
    },
  );

  test('contain what OpenSSL was asked to request', () => {
    const { header: sent, body } = recorded('ir-mac-1.req.der');
    expect(sent).toMatchObject({
      pvno: 2,
      sender: { kind: 'directory', value: { rdns: [[{ value: 'Postern' }], [{ value: 'new' }]] } },
      senderKID: Uint8Array.from(Buffer.from('4711')),
      generalInfo: [{ type: '1.2.3.4', value: Uint8Array.of(2, 1, 5) }],
    });
    expect([sent.transactionID?.length, sent.senderNonce?.length, sent.recipNonce]).toEqual([
      16,
      16,
      undefined,
    ]);
    if (body.type !== 'ir') throw new Error(body.type);
    const request = parseCertReqMsg(body.requests[0]!);
    const { notBefore, notAfter } = request.template.validity!;
    expect(notAfter! - notBefore!).toBe(30 * 86_400_000);
    expect(verifyCertReqMsg(request.der, { raVerified: false }).subjectAltNames).toEqual([
      { kind: 'dns', value: 'new.example' },
    ]);
  });

  test('request implicit confirmation, and responses grant it', () => {
    for (const name of ['ir-mac-sha512-1.req.der', 'ir-mac-sha512-1.rsp.der']) {
      const { generalInfo } = recorded(name).header;
      expect(hasValue(generalInfo, infoTypes.implicitConfirm)).toBe(true);
      expect(findValue(generalInfo, infoTypes.implicitConfirm)).toBe(true);
    }
    expect(hasValue(recorded('ir-mac-1.rsp.der').header.generalInfo, infoTypes.implicitConfirm)).toBe(false);
  });

  test('name the certificate to be updated', () => {
    const { body } = recorded('kur-signed-1.req.der');
    if (body.type !== 'kur') throw new Error(body.type);
    const { issuer, serialNumber } = parseCertificate(vector('device.crt.der'));
    const old = findValue(parseCertReqMsg(body.requests[0]!).controls, controlTypes.oldCertId);
    expect(old).toMatchObject({ issuer: { kind: 'directory', value: { rdns: issuer.rdns } } });
    expect(hex(old!.serial)).toBe(serialNumber);
  });

  test('name the certificate to be revoked and the reason', () => {
    const { body } = recorded('rr-signed-1.req.der');
    if (body.type !== 'rr') throw new Error(body.type);
    const [details] = body.requests;
    expect(hex(details!.certDetails.serial!)).toBe('0102030405');
    expect(details!.certDetails.issuer?.rdns).toHaveLength(2);
    expect(details!.crlEntryDetails).toMatchObject([{ oid: '2.5.29.21', value: Uint8Array.of(10, 1, 1) }]);
  });

  test('carry PKCS#10', () => {
    const { body } = recorded('p10cr-signed-1.req.der');
    if (body.type !== 'p10cr') throw new Error(body.type);
    expect(verifyPkcs10(body.request).publicKey.type).toBe('p-256');
    const answer = recorded('p10cr-signed-1.rsp.der').body;
    expect(answer).toMatchObject({
      type: 'cp',
      responses: [{ certReqId: -1, status: { status: 'accepted' } }],
    });
  });

  test('contain the time to wait', () => {
    expect(recorded('cr-polled-1.rsp.der').body).toMatchObject({
      responses: [{ status: { status: 'waiting' } }],
    });
    expect(recorded('cr-polled-2.req.der').body).toEqual({ type: 'pollReq', certReqIds: [0] });
  });

  test('contain the error', () => {
    expect(recorded('ir-error-1.rsp.der').body).toMatchObject({
      type: 'error',
      status: { status: 'rejection', failInfo: ['badRequest'] },
      errorDetails: ['CMP routines', 'error processing message'],
    });
  });
});

describe('one inverted bit', () => {
  /** Inverts each bit in turn and counts the rejected messages per reason. */
  async function flipEveryBit(name: string): Promise<Record<string, number>> {
    const original = vector(name);
    const counts: Record<string, number> = {};
    for (let bit = 0; bit < original.length * 8; bit++) {
      const altered = original.slice();
      altered[bit >> 3]! ^= 0x80 >> (bit & 7);
      const outcome = await judge(altered);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    return counts;
  }

  async function judge(encoded: Uint8Array): Promise<string> {
    try {
      const message = openPkiMessage(encoded);
      const protection = readProtection(message);
      if (protection.kind === 'none') return 'accepted';
      if (protection.kind === 'mac') {
        if (!(await protection.verify(secret))) return 'badMessageCheck';
      } else {
        const { signer, others } = readExtraCerts(message);
        if (!protection.verify(readPublicKey(signer.spki))) return 'badMessageCheck';
        const trusted = [signer, ...others].every(
          (one) =>
            one.signatureAlgorithm && verifySignature(caKey, one.signatureAlgorithm, one.tbs, one.signature),
        );
        if (!trusted) return 'signerNotTrusted';
      }
      parsePkiMessage(encoded);
      return 'accepted';
    } catch (error) {
      if (error instanceof Fault) return error.code;
      throw error;
    }
  }

  test('anywhere in a message with a MAC is rejected', async () => {
    const counts = await flipEveryBit('ir-mac-1.req.der');
    expect(counts).not.toHaveProperty('accepted');
    expect(Object.keys(counts).sort()).toEqual(['badAlgorithm', 'badMessageCheck', 'malformed']);
  });

  test('anywhere in a signed message and its certificates is rejected', async () => {
    const counts = await flipEveryBit('kur-signed-1.req.der');
    expect(counts).not.toHaveProperty('accepted');
    expect(Object.keys(counts).sort()).toEqual([
      'badAlgorithm',
      'badMessageCheck',
      'malformed',
      'signerNotTrusted',
      'unauthenticated',
    ]);
  });
});

const named = (bodies: readonly PkiBody[]) => bodies.map((body) => [body.type, body] as const);

describe('bodies', () => {
  test('of every kind are among the samples', () => {
    expect(new Set(bodiesOf4210.map(({ type }) => type))).toEqual(new Set(bodyTypes));
  });

  test.each(named([...bodiesOf4210, ...bodiesOf9810]))(
    '%s are read as they were written',
    async (_, body) => {
      const encoded = await buildPkiMessage(header, body, { extraCerts: [certificate] });
      const message = parsePkiMessage(encoded);
      expect(message.header).toEqual({ ...header, protectionAlg: undefined });
      expect(message.body).toEqual(body);
      expect(message.extraCerts).toEqual([certificate]);
      expect(message.bodyType).toBe(body.type);
      expect(message.protection).toBeUndefined();
      expect(readProtection(message)).toEqual({ kind: 'none' });
      expect(hex(await rebuilt(message))).toBe(hex(encoded));
    },
  );

  // OpenSSL 3.0 does not know later bodies.
  test.each(named(bodiesOf4210))('%s are read by OpenSSL', async (_, body) => {
    const encoded = await buildPkiMessage(header, body);
    const run = openssl(
      [
        'cmp',
        '-config',
        '',
        '-batch',
        '-use_mock_srv',
        '-cmd',
        'genm',
        '-secret',
        'pass:x',
        '-ref',
        'x',
      ].concat(['-srv_ref', 'x', '-srv_secret', 'pass:x', '-recipient', '/CN=ca', '-reqin', 'message.der']),
      { 'message.der': encoded },
    );
    expect(run.text).toContain('actually sending');
  });
});

describe('messages', () => {
  const { headerDer, bodyDer } = recorded('ir-signed-1.req.der');

  test('with a protectionAlg but no protection, or the reverse, are malformed', async () => {
    const stripped = der((b) => b.sequence((s) => s.raw(headerDer).raw(bodyDer)));
    expect(() => readProtection(openPkiMessage(stripped))).toThrow(
      'protectionAlg and protection must either both be present',
    );
    const bare = openPkiMessage(await buildPkiMessage(header, { type: 'pkiConf' }));
    const unnamed = der((b) =>
      b.sequence((s) => {
        s.raw(bare.headerDer).raw(bare.bodyDer);
        s.explicit(0, (p) => p.bitString(Uint8Array.of(1)));
      }),
    );
    expect(() => readProtection(openPkiMessage(unnamed))).toThrow(
      'protectionAlg and protection must either both be present',
    );
  });

  test.each<[time: string, milliseconds: number | undefined]>([
    ['20260102030405Z', Date.UTC(2026, 0, 2, 3, 4, 5)],
    ['20260102030405.25Z', Date.UTC(2026, 0, 2, 3, 4, 5, 250)],
    ['20260102030405.9999Z', Date.UTC(2026, 0, 2, 3, 4, 5, 999)],
    ['20260102030405.0Z', undefined],
    ['20260102030405.Z', undefined],
    ['20260102030405+0000', undefined],
    ['202601020304Z', undefined],
    ['20260232030405Z', undefined],
  ])('sent at %s are read, or malformed', (time, milliseconds) => {
    const names = der((b) => b.explicit(4, (name) => name.sequence(() => {})));
    const encoded = der((b) =>
      b.sequence((message) => {
        message.sequence((h) => {
          h.integer(2).raw(names).raw(names);
          h.explicit(0, (explicit) => explicit.string(time, tag.generalizedTime));
        });
        message.explicit(19, (content) => content.null());
      }),
    );
    if (milliseconds === undefined) expect(() => parsePkiMessage(encoded)).toThrow(Fault);
    else expect(parsePkiMessage(encoded).header.messageTime).toBe(milliseconds);
  });

  test('with an invalid body can be opened, so that the response has the transactionID', () => {
    const badBody = der((b) =>
      b.sequence((s) => {
        s.raw(headerDer).explicit(24, (content) => content.null());
        s.explicit(0, (p) => p.bitString(Uint8Array.of(1)));
      }),
    );
    const { header: read, bodyType } = openPkiMessage(badBody);
    expect([bodyType, read.transactionID?.length]).toEqual(['certConf', 16]);
    expect(() => parsePkiMessage(badBody)).toThrow(Fault);
  });
});
