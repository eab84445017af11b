import { sameBytes } from '../der/bytes.ts';
import { subjectKeyIdentifierOf } from '../x509/certificate.ts';
import { formatDistinguishedName } from '../x509/name.ts';
import type { Configuration, LoadedCa } from './configuration.ts';

/**
 * The CAs of ours that are one issuer to whoever checks a certificate, the newest first: those of this one's name, key and key
 * identifier, as there are when a CA's certificate was renewed. Each has issued a part of what the issuer answers for.
 */
export function sameIssuer(
  { casNamed }: Pick<Configuration, 'casNamed'>,
  { certificate }: LoadedCa,
): readonly LoadedCa[] {
  const { subject, spki } = certificate;
  const identifier = identifierOf(certificate);
  return casNamed(formatDistinguishedName(subject)).filter(
    ({ record, certificate: other }) =>
      record.key && sameBytes(other.spki, spki) && sameBytes(identifierOf(other), identifier),
  );
}

const none = new Uint8Array();
const identifierOf = (certificate: LoadedCa['certificate']): Uint8Array =>
  subjectKeyIdentifierOf(certificate) ?? none;
