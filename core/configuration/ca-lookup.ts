import { sameBytes } from '../der/bytes.ts';
import { hasExpired } from '../der/time.ts';
import { Fault } from '../fault.ts';
import type { GatewaySettings } from '../ports/settings.ts';
import type { Store } from '../ports/store.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import { type Certificate, subjectKeyIdentifierOf } from '../x509/certificate.ts';
import { formatDistinguishedName } from '../x509/name.ts';
import type { Configuration, LoadedCa } from './configuration.ts';

/** A certificate in a chain, and the id of the CA if it is one of ours. */
export interface Link {
  /** DER. */
  readonly certificate: Uint8Array;
  readonly ca: number | null;
}

/** Returns the chain from a certificate's issuer up to the root. `issuer`: the CA that signed it. */
export function linksAbove(configuration: Configuration, issuer: number): readonly Link[] {
  return (configuration.ca(issuer)?.chain ?? []).map((certificate) => ({
    certificate,
    ca: configuration.cas.find(({ record }) => sameBytes(record.certificate, certificate))?.record.id ?? null,
  }));
}

/**
 * Returns the CA that signs the service's own certificates. Its key must be ours, because such certificates cannot wait
 * for an upstream CA: the domain's own CA, or else the newest active one, an issuing CA rather than a root. Faults:
 * unavailable.
 */
export function nearestCa({ cas }: Pick<Configuration, 'cas'>, ca: LoadedCa, now: number): LoadedCa {
  if (ca.record.key) return ca;
  const fit = cas
    .filter(
      ({ record, certificate }) => record.key && record.isActive && !hasExpired(certificate.notAfter, now),
    )
    .toSorted((a, b) => Number(isRoot(a)) - Number(isRoot(b)) || b.record.id - a.record.id);
  const [found] = fit;
  if (!found) throw new Fault('unavailable', 'there is no active CA whose key Postern holds');
  return found;
}

const isRoot = ({ record }: LoadedCa): boolean => record.chain.length === 0;

/**
 * Returns our CAs that relying parties cannot distinguish, the newest first: those with the same name, key and key
 * identifier, as after the renewal of a CA certificate. Each has issued a part of the certificates.
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

/**
 * Returns the stored certificate with the same bytes. The signature needs no second check, because the store only
 * contains what the CA signed.
 */
export async function findIssued(
  store: Store,
  configuration: Configuration,
  certificate: Certificate,
): Promise<StoredCertificate | undefined> {
  for (const ca of configuration.casNamed(formatDistinguishedName(certificate.issuer))) {
    const record = await store.find('certificate', {
      ca: ca.record.id,
      serialNumber: certificate.serialNumber,
    });
    if (record && Buffer.compare(record.der, certificate.der) === 0) return record;
  }
  return undefined;
}

type Settings = Pick<GatewaySettings, 'publicUrl' | 'ocspUrl'>;

interface PublicUrls {
  readonly crl: string;
  readonly aia: string;
  readonly ocsp?: string;
}

/** Returns the URLs of a CA's CRL, certificate and OCSP responder, which are part of its certificates. */
export const publicUrls = ({ publicUrl, ocspUrl }: Settings, ca: number): PublicUrls => ({
  crl: `${publicUrl}/crl/${ca}.crl`,
  aia: `${publicUrl}/aia/${ca}.cer`,
  ...(ocspUrl !== undefined && { ocsp: ocspUrl }),
});

const known = new WeakMap<LoadedCa, PublicUrls>();

/** Returns the URLs of a loaded CA: the same object for as long as the CA is loaded. */
export function publicUrlsOf(settings: Settings, ca: LoadedCa): PublicUrls {
  let urls = known.get(ca);
  if (!urls) {
    urls = publicUrls(settings, ca.record.id);
    known.set(ca, urls);
  }
  return urls;
}
