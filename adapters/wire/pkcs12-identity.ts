import { Fault } from '#core/fault.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { readPkcs12 } from './pkcs12.ts';
import { publicKeyOf } from './private-key.ts';

/** A private key (PKCS #8), its certificate and the other certificates of a file, DER. */
export interface Identity {
  readonly privateKey: Uint8Array;
  readonly certificate: Uint8Array;
  readonly others: readonly Uint8Array[];
}

/**
 * Reads a PKCS #12 file with one private key and finds the certificate of that key, at any position. Faults: those of
 * `readPkcs12`, and malformed.
 */
export async function readPkcs12Identity(file: Uint8Array, password: string): Promise<Identity> {
  const { privateKeys, certificates } = await readPkcs12(file, password);
  const [privateKey, second] = privateKeys;
  if (!privateKey || second) throw new Fault('malformed', 'the file must contain exactly one private key');
  const spki = publicKeyOf(privateKey);
  const certificate = certificates.find((der) => Buffer.compare(parseCertificate(der).spki, spki) === 0);
  if (!certificate) throw new Fault('malformed', 'the file contains no certificate for its private key');
  return { privateKey, certificate, others: certificates.filter((der) => der !== certificate) };
}
