import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { der } from '#core/der/builder.ts';
import { deviceNames, readIdevid } from '#core/requester/idevid.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { subjectAltNameExtension } from '#core/x509/extensions/identity.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { oid } from '#core/x509/oids.ts';
import { installation } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { idevid, makerCa } from '#tests/fixtures/manufacturer.ts';
import { runs } from '#tests/property.ts';

const maker = makerCa('CN=Acme IDevID Root,O=Acme Pumps GmbH');
const key = testKey('p-256', 'idevid');

/** A subjectAltName with a HardwareModuleName (RFC 4108 §5). */
const module = (serialNumber: Uint8Array) =>
  subjectAltNameExtension([
    {
      kind: 'otherName',
      type: oid.hardwareModuleName,
      value: der((b) => b.sequence((s) => s.oid('1.3.6.1.4.1.99999.1').octetString(serialNumber))),
    },
  ]);
const read = (subject: string, ...names: Parameters<typeof module>[0][]) => {
  const extensions = names.map(module);
  return readIdevid(parseCertificate(idevid(key, maker, subject, { extensions })));
};

describe('the serial numbers of an IDevID', () => {
  const rows: [
    what: string,
    subject: string,
    module: Uint8Array | undefined,
    numbers: string[] | undefined,
  ][] = [
    ['of the subject', 'CN=pump,serialNumber=SN-1', undefined, ['SN-1']],
    ['of the module, as text', 'CN=pump', Buffer.from('HW-1'), ['HW-1']],
    ['of the module, as octets', 'CN=pump', Uint8Array.of(0, 0x1f, 0xab), ['001FAB']],
    ['of the module, as octets that are no UTF-8', 'CN=pump', Uint8Array.of(0x41, 0xff), ['41FF']],
    ['of both', 'serialNumber=SN-1', Buffer.from('HW-1'), ['SN-1', 'HW-1']],
    ['of both, once', 'serialNumber=SN-1', Buffer.from('SN-1'), ['SN-1']],
    ['without space around', 'serialNumber=\\ SN 1\\ ', undefined, ['SN 1']],
    ['none', 'CN=pump', undefined, undefined],
    ['an empty one', 'CN=pump', new Uint8Array(0), undefined],
    ['one that is too long', 'CN=pump', Buffer.from('x'.repeat(101)), undefined],
  ];
  test.each(rows)('%s', (_what, subject, module, numbers) => {
    expect(read(subject, ...(module ? [module] : []))?.serialNumbers).toEqual(numbers);
  });

  test('other alternative names are ignored', () => {
    const extensions = [
      subjectAltNameExtension(['DNS:SN-1', 'otherName:1.2.3;#0403534e31'].map(parseGeneralName)),
    ];
    expect(readIdevid(parseCertificate(idevid(key, maker, 'CN=x', { extensions })))).toBeUndefined();
  });

  test('an unreadable HardwareModuleName is ignored', () => {
    const broken = subjectAltNameExtension([
      { kind: 'otherName', type: oid.hardwareModuleName, value: Uint8Array.of(0x30, 0) },
    ]);
    expect(
      readIdevid(parseCertificate(idevid(key, maker, 'CN=x', { extensions: [broken] }))),
    ).toBeUndefined();
  });
});

test('the key is identified independently of the rest of the certificate', () => {
  const one = read('serialNumber=1')!;
  expect(read('serialNumber=2')!.key).toBe(one.key);
  expect(one.key).toMatch(/^[0-9A-F]{64}$/);
});

test('an IDevID is rejected when no truststore could trust it', async () => {
  await using site = await installation();
  const certificate = idevid(key, maker, 'serialNumber=SN-1');
  const target = { protocol: 'est', domain: undefined, profile: undefined } as const;
  const evidence = { kind: 'certificate', certificates: [certificate], address: '192.0.2.1' } as const;
  await expect(site.gateway.admit(evidence, target)).rejects.toMatchObject({
    code: 'unauthenticated',
    detail: 'the client certificate is not accepted: this gateway did not issue it',
  });
});

describe('the name of a new device', () => {
  const tag = read('serialNumber=1')!.key.slice(0, 16);
  const rows: [serialNumber: string, subject: string, names: string[]][] = [
    ['SN-1', 'O=Maker', ['SN-1', 'Maker-SN-1', `SN-1-${tag}`]],
    ['SN-1', 'CN=x', ['SN-1', 'Acme-Pumps-GmbH-SN-1', `SN-1-${tag}`]],
    ['SN 1/ä*#', 'O=M', ['SN-1-a', 'M-SN-1-a', `SN-1-a-${tag}`]],
    // This name would be taken for the device with id 17.
    ['17', 'O=M', ['M-17', `17-${tag}`]],
    ['...', 'O=M', [tag]],
    ['シリアル', 'O=M', [tag]],
    ['x'.repeat(60), 'O=Maker', ['x'.repeat(60), `${'x'.repeat(47)}-${tag}`]],
    ['x'.repeat(100), 'O=M', [`${'x'.repeat(47)}-${tag}`]],
  ];
  test.each(rows)('%s of %s', (serialNumber, subject, names) => {
    expect(deviceNames(serialNumber, read(`serialNumber=1,${subject}`)!)).toEqual(names);
  });

  test('is valid in host names, file names and certificates', () => {
    const one = read('serialNumber=1')!;
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 100 }),
        fc.string({ unit: 'binary' }),
        (serial, manufacturer) => {
          for (const name of deviceNames(serial, { ...one, manufacturer })) {
            expect(name).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/);
          }
        },
      ),
      runs(200),
    );
  });
});
