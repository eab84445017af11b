import type { Configuration, LoadedCa } from '../configuration.ts';
import { sameBytes } from '../der/bytes.ts';
import { formatDistinguishedName } from '../x509/name.ts';

/**
 * The CAs of ours that are one issuer to whoever checks a certificate, the newest first: those of this one's name and key, as there
 * are when a CA's certificate was renewed. Each has issued a part of what the issuer answers for.
 */
export const sameIssuer = (
  { casNamed }: Pick<Configuration, 'casNamed'>,
  { certificate }: LoadedCa,
): readonly LoadedCa[] =>
  casNamed(formatDistinguishedName(certificate.subject)).filter(
    (other) => other.record.key && sameBytes(other.certificate.spki, certificate.spki),
  );
