import { describe, expect, test } from 'bun:test';
import { der } from '#core/der/builder.ts';
import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { defaultSignatureAlgorithm, signatureAlgorithmIdentifier } from '#core/x509/algorithm.ts';
import { buildCertReqMsg, buildCertRequest, buildCertTemplate } from '#core/x509/crmf-builder.ts';
import type { Extension } from '#core/x509/extension.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { basicConstraintsExtension, keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { emptyName, type Name, parseDistinguishedName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { readUnproven, verifyCertReqMsg, verifyPkcs10 } from '#core/x509/request.ts';
import { assembleCertificationRequest, buildCertificationRequestInfo } from '#core/x509/request-builder.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { oddNames } from '#tests/fixtures/odd-names.ts';

const key = testKey('p-256');
const algorithm = defaultSignatureAlgorithm('p-256');
const { spki } = key.publicKey;

function pkcs10(subject: Name, extensions: readonly Extension[]): Uint8Array {
  const info = buildCertificationRequestInfo(subject, spki, extensions);
  return assembleCertificationRequest(info, algorithm, key.sign(algorithm, info));
}

function crmf(subject: Name, extensions: readonly Extension[]): Uint8Array {
  const request = buildCertRequest(0, buildCertTemplate({ subject, spki, extensions }));
  return buildCertReqMsg(request, { kind: 'signature', algorithm, signature: key.sign(algorithm, request) });
}

/** The fault code of each kind of request; undefined if it is accepted. */
const refusals = (subject: Name, ...extensions: readonly Extension[]): (string | undefined)[] =>
  [
    () => verifyPkcs10(pkcs10(subject, extensions)),
    () => readUnproven(pkcs10(subject, extensions)),
    () => verifyCertReqMsg(crmf(subject, extensions), { raVerified: false }),
  ].map((read) => {
    try {
      read();
      return undefined;
    } catch (error) {
      if (error instanceof Fault) return error.code;
      throw error;
    }
  });

const refused = ['badCsr', 'badCsr', 'badCsr'];
const accepted = [undefined, undefined, undefined];
const extension = (which: string, digits: string): Extension => ({
  oid: which,
  critical: true,
  value: Buffer.from(digits, 'hex'),
});

describe('requests that are not DER', () => {
  test.each(oddNames)('a subject with %s is rejected', (_, name) => {
    expect(refusals(name)).toEqual(refused);
  });

  test.each(oddNames)('a directory name with %s among the alternative names is rejected', (_, name) => {
    expect(refusals(emptyName, subjectAltNameExtension([{ kind: 'directory', value: name }]))).toEqual(
      refused,
    );
  });

  test.each([
    ['a keyUsage with trailing zero bits', extension(oid.keyUsage, '03020080')],
    ['a keyUsage with an octet of zeros at its end', extension(oid.keyUsage, '0303078000')],
    ['a keyUsage of zero bits', extension(oid.keyUsage, '03020700')],
    ['a basicConstraints with cA FALSE', extension(oid.basicConstraints, '3003010100')],
  ])('%s is rejected', (_, one) => {
    expect(refusals(emptyName, one)).toEqual(refused);
  });

  test('a CertReqMsg with an empty list of controls is rejected', () => {
    const request = buildCertRequest(0, buildCertTemplate({ spki }));
    const controls = der((b) => b.sequence((s) => s.raw(request.subarray(2)).sequence(() => {})));
    const signature = key.sign(algorithm, controls);
    const message = der((b) =>
      b.sequence((s) =>
        s
          .raw(controls)
          .explicit(1, (p) => p.raw(signatureAlgorithmIdentifier(algorithm)).bitString(signature)),
      ),
    );
    expect(() => verifyCertReqMsg(message, { raVerified: false })).toThrow('empty list of controls');
  });
});

test('requests in DER are accepted, also with an explicit FALSE for critical', () => {
  const subject = parseDistinguishedName('CN=gerät 😀+O=plant,serialNumber=A-1');
  const explicitFalse = der((b) =>
    b.sequence((s) =>
      s.sequence((e) =>
        e
          .oid(oid.keyUsage)
          .add(tag.boolean, Uint8Array.of(0))
          .octetString(keyUsageExtension(['keyAgreement']).value),
      ),
    ),
  );
  const basic = [basicConstraintsExtension({ ca: false }), basicConstraintsExtension({ ca: true })];
  for (const one of basic)
    expect(refusals(subject, one, keyUsageExtension(['decipherOnly']))).toEqual(accepted);
  const info = der((b) =>
    b.sequence((s) =>
      s
        .integer(0)
        .raw(subject.der)
        .raw(spki)
        .explicit(0, (a) => a.sequence((one) => one.oid(oid.extensionRequest).set(explicitFalse))),
    ),
  );
  expect(
    verifyPkcs10(assembleCertificationRequest(info, algorithm, key.sign(algorithm, info))).extensions,
  ).toHaveLength(1);
});
