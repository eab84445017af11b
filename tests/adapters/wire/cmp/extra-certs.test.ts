import { describe, expect, test } from 'bun:test';
import { readExtraCerts } from '#adapters/wire/cmp/extra-certs.ts';
import { buildPkiMessage, openPkiMessage } from '#adapters/wire/cmp/message.ts';
import type { FaultCode } from '#core/fault.ts';
import { subjectKeyIdentifierOf } from '#core/x509/certificate.ts';
import { type GeneralName, parseGeneralName } from '#core/x509/general-name.ts';
import { testCa } from '#tests/fixtures/certificates.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { header } from './samples.ts';

const ca = testCa('p-256');
const device = ca.issue(testKey('p-256'));
const bare = ca.issue(testKey('p-256'), { extensions: [] });
const identifier = subjectKeyIdentifierOf(device)!;

interface Sent {
  readonly certificates: readonly Uint8Array[];
  readonly sender?: GeneralName;
  readonly senderKID?: Uint8Array;
}

async function read({ certificates, sender = header.sender, senderKID }: Sent) {
  const sent = { ...header, sender, senderKID };
  return readExtraCerts(
    openPkiMessage(await buildPkiMessage(sent, { type: 'pkiConf' }, { extraCerts: certificates })),
  );
}

describe('extraCerts of a message', () => {
  test('begin with the signer, identified by sender and senderKID', async () => {
    const { signer, others } = await read({
      certificates: [device.der, ca.certificate.der],
      senderKID: identifier,
    });
    expect(signer).toEqual(device);
    expect(others).toEqual([ca.certificate]);
  });

  test.each<[string, Sent]>([
    ['no senderKID', { certificates: [device.der] }],
    ['a senderKID, but none in the certificate', { certificates: [bare.der], senderKID: identifier }],
    [
      'a sender in other letter case',
      { certificates: [device.der], sender: parseGeneralName('DirName:CN=DEVICE') },
    ],
  ])('begin with the signer with %s', async (_what, sent) => {
    expect((await read(sent)).signer.subject).toEqual(device.subject);
  });

  test.each<[string, FaultCode, Sent]>([
    ['no certificate', 'unauthenticated', { certificates: [] }],
    ['the issuer first', 'unauthenticated', { certificates: [ca.certificate.der, device.der] }],
    [
      'a sender that is no directory name',
      'unauthenticated',
      { certificates: [device.der], sender: parseGeneralName('DNS:device') },
    ],
    [
      'the senderKID of another',
      'unauthenticated',
      { certificates: [device.der], senderKID: Uint8Array.of(1) },
    ],
    ['a certificate that is none', 'malformed', { certificates: [device.der, Uint8Array.of(0x30, 0)] }],
  ])('with %s are rejected', async (_what, code, sent) => {
    await expect(read(sent)).rejects.toMatchObject({ code });
  });
});
