import { der } from '#core/der/builder.ts';

/** Content types of CMS: RFC 5652 §4, §5.1, §6.1, and RFC 5958 §3. */
export const contentTypes = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  keyPackage: '2.16.840.1.101.2.1.2.78.5',
} as const;

/** RFC 3565 §4.1: the parameter is the initialisation vector. */
export const aes256Cbc = (iv: Uint8Array): Uint8Array =>
  der((b) => b.sequence((s) => s.oid('2.16.840.1.101.3.4.1.42').octetString(iv)));

/** RFC 3565 §2.3.2: without parameters. */
export const aes256Wrap = der((b) => b.sequence((s) => s.oid('2.16.840.1.101.3.4.1.45')));

/** Octets of a key of either algorithm. */
export const aesKeyOctets = 32;
export const aesBlockOctets = 16;

/** Encrypts a key with AES key wrap (RFC 3394). */
export async function wrapAesKey(key: Uint8Array, wrappingKey: Uint8Array): Promise<Uint8Array> {
  const { subtle } = crypto;
  const [wrapped, wrapping] = await Promise.all([
    subtle.importKey('raw', key.slice(), 'AES-CBC', true, ['encrypt']),
    subtle.importKey('raw', wrappingKey.slice(), 'AES-KW', false, ['wrapKey']),
  ]);
  return new Uint8Array(await subtle.wrapKey('raw', wrapped, wrapping, 'AES-KW'));
}
