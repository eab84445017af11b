import { expect, test } from 'bun:test';
import { checkCertificate } from '#core/upstream/check-certificate.ts';
import type { Certificate } from '#core/x509/certificate.ts';
import { certificate, certify, noon, party } from '../x509/path/certify.ts';

const root = party('CN=Root');
const device = party('CN=device-1');
const above = [certificate(root, root, { ca: true })];
const { signatureAlgorithm, ...read } = certificate(device, root);
const wanted = { ...read, signatureAlgorithm: signatureAlgorithm! };

const answered = (...serial: number[]): Certificate => {
  const der = certify(device, root, { raw: { serial: Uint8Array.from(serial) } });
  return checkCertificate(wanted, der, above, above, noon).certificate;
};

test('a serial number of an upstream CA is accepted from 1 up to 20 octets', () => {
  expect(answered(1).serialNumber).toBe('01');
  expect(answered(...new Array<number>(20).fill(0x7f)).serial).toHaveLength(20);
  const longer = new Array<number>(21).fill(0x7f);
  for (const serial of [[0], [0xff], [0x80, 1], longer]) {
    expect(() => answered(...serial)).toThrow('has a serial number that is not positive, or is too long');
  }
});
