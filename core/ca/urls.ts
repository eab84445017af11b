import type { GatewaySettings } from '../settings.ts';

/** Where everybody finds a CA's CRL and certificate, and who answers for it; they stand in what it issues. */
export const publicUrls = (
  { publicUrl, ocspUrl }: Pick<GatewaySettings, 'publicUrl' | 'ocspUrl'>,
  ca: number,
): { crl: string; aia: string; ocsp?: string } => ({
  crl: `${publicUrl}/crl/${ca}.crl`,
  aia: `${publicUrl}/aia/${ca}.cer`,
  ...(ocspUrl !== undefined && { ocsp: ocspUrl }),
});
