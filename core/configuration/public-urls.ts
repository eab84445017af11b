import type { GatewaySettings } from '../ports/settings.ts';
import type { LoadedCa } from './configuration.ts';

type Settings = Pick<GatewaySettings, 'publicUrl' | 'ocspUrl'>;

interface PublicUrls {
  readonly crl: string;
  readonly aia: string;
  readonly ocsp?: string;
}

/** Where everybody finds a CA's CRL and certificate, and who answers for it; they stand in what it issues. */
export const publicUrls = ({ publicUrl, ocspUrl }: Settings, ca: number): PublicUrls => ({
  crl: `${publicUrl}/crl/${ca}.crl`,
  aia: `${publicUrl}/aia/${ca}.cer`,
  ...(ocspUrl !== undefined && { ocsp: ocspUrl }),
});

const known = new WeakMap<LoadedCa, PublicUrls>();

/** The same of a CA that is loaded: the very same object for as long as it is. */
export function publicUrlsOf(settings: Settings, ca: LoadedCa): PublicUrls {
  let urls = known.get(ca);
  if (!urls) {
    urls = publicUrls(settings, ca.record.id);
    known.set(ca, urls);
  }
  return urls;
}
