import { describe, expect, test } from 'bun:test';
import { attachment } from '#adapters/inbound/management/files.ts';

describe('the name of a download', () => {
  test.each([
    ['pump-1', '.pem', 'pump-1.pem'],
    ['Kläranlage "Süd"/1', '.crl.pem', 'Kl-ranlage-S-d-1.crl.pem'],
    ['a\r\nset-cookie: b', '.cer', 'a-set-cookie-b.cer'],
    ['', '.p12', '.p12'],
    ['n'.repeat(96), '.pem', `${'n'.repeat(96)}.pem`],
    ['n'.repeat(97), '.pem', `${'n'.repeat(96)}.pem`],
    ['n'.repeat(255), '-chain.pem', `${'n'.repeat(90)}-chain.pem`],
  ])('%j with %s is %s', (name, ending, fileName) => {
    const { headers } = attachment('', 'text/plain', name, ending);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${fileName}"`);
  });
});
