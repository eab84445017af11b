/** RFC 6960 §4.2.1, §4.4.1. */
export const basicResponse = '1.3.6.1.5.5.7.48.1.1';
export const nonceExtension = '1.3.6.1.5.5.7.48.1.2';

/** What hashes the issuer in a CertID: SHA-1 is what clients use (RFC 5019 §2.1.1), SHA-256 what they are to use (RFC 9654). */
export const hashes: ReadonlyMap<string, string> = new Map([
  ['1.3.14.3.2.26', 'sha1'],
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);
