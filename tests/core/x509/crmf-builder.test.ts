import { describe, expect, test } from 'bun:test';
import { der } from '#core/der/builder.ts';
import { type ProofOfPossession, parseCertReqMsg, parseCertTemplate } from '#core/x509/crmf.ts';
import { buildCertReqMsg, buildCertRequest, buildCertTemplate } from '#core/x509/crmf-builder.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { parseDistinguishedName } from '#core/x509/name.ts';
import { verifyCertReqMsg } from '#core/x509/request.ts';
import { testKey } from '#tests/fixtures/keys.ts';

const key = testKey('p-256');
const algorithm = 'ecdsa-sha256';
const subject = parseDistinguishedName('CN=device');
const extensions = [subjectAltNameExtension([parseGeneralName('DNS:a.example')])];
const time = Date.UTC(2026, 0, 1);
const value = der((b) => b.string('x'));
const control = { type: '1.3.6.1.5.5.7.5.1.1', value };

describe('a template', () => {
  const everything = {
    version: 2,
    serial: Uint8Array.of(0, 0x80),
    signingAlg: der((b) => b.sequence((s) => s.oid('1.3.101.112'))),
    issuer: parseDistinguishedName('CN=ca'),
    validity: { notBefore: time, notAfter: Date.UTC(2060, 0, 1) },
    subject,
    spki: key.publicKey.spki,
    extensions,
  };

  test('is read as it was written, with every field', () => {
    const encoded = buildCertTemplate(everything);
    expect(parseCertTemplate(encoded)).toEqual({ der: encoded, ...everything });
  });

  test('is read as it was written, with no field', () => {
    expect(parseCertTemplate(buildCertTemplate({}))).toEqual({
      der: Uint8Array.of(0x30, 0),
      version: undefined,
      serial: undefined,
      signingAlg: undefined,
      issuer: undefined,
      validity: undefined,
      subject: undefined,
      spki: undefined,
      extensions: [],
    });
  });

  test.each([
    { notBefore: undefined, notAfter: time },
    { notBefore: time, notAfter: undefined },
  ])('may omit the start or the end of its validity', (validity) => {
    expect(parseCertTemplate(buildCertTemplate({ validity })).validity).toEqual(validity);
  });
});

describe('a request', () => {
  const certRequest = buildCertRequest(
    3,
    buildCertTemplate({ subject, spki: key.publicKey.spki, extensions }),
    [control],
  );
  const signature = key.sign(algorithm, certRequest);
  const input = der((b) =>
    b.sequence((s) => s.explicit(0, (sender) => sender.explicit(4, subject.der)).raw(key.publicKey.spki)),
  );

  test.each<[ProofOfPossession]>([
    [{ kind: 'none' }],
    [{ kind: 'raVerified' }],
    [{ kind: 'signature', algorithm, signature }],
    [{ kind: 'signatureOverInput', input, algorithm, signature }],
    [{ kind: 'keyEncipherment', method: 'thisMessage', value: Uint8Array.of(0, 1) }],
    [{ kind: 'keyEncipherment', method: 'subsequentMessage', value: Uint8Array.of(0) }],
    [{ kind: 'keyAgreement', method: 'dhMac', value: Uint8Array.of(0, 1) }],
    [
      {
        kind: 'keyAgreement',
        method: 'agreeMac',
        value: der((b) => b.sequence(() => {}).bitString(Uint8Array.of(1))),
      },
    ],
    [{ kind: 'keyAgreement', method: 'encryptedKey', value: der((b) => b.integer(2)) }],
  ])('is read as it was written, with the proof %j', (proof) => {
    const encoded = buildCertReqMsg(certRequest, proof, [control]);
    expect(parseCertReqMsg(encoded)).toMatchObject({
      der: encoded,
      signed: certRequest,
      certReqId: 3,
      template: { subject, spki: key.publicKey.spki, extensions },
      controls: [control],
      regInfo: [control],
      proof,
    });
  });

  test('signed by its key is accepted', () => {
    const encoded = buildCertReqMsg(certRequest, { kind: 'signature', algorithm, signature });
    expect(verifyCertReqMsg(encoded, { raVerified: false })).toMatchObject({ subject, extensions });
  });

  test('with an unknown way to prove possession of an encryption key is malformed', () => {
    const encoded = der((b) =>
      b.sequence((s) => s.raw(certRequest).explicit(2, (p) => p.explicit(5, value))),
    );
    expect(() => parseCertReqMsg(encoded)).toThrow(expect.objectContaining({ code: 'malformed' }));
  });
});
