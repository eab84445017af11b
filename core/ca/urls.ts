import type { GatewaySettings } from '../settings.ts';

/** Where everybody finds a CA's CRL and certificate; both stand in what it issues. */
export const publicUrls = (
  settings: Pick<GatewaySettings, 'publicUrl'>,
  ca: number,
): { crl: string; aia: string } => ({
  crl: `${settings.publicUrl}/crl/${ca}.crl`,
  aia: `${settings.publicUrl}/aia/${ca}.cer`,
});
