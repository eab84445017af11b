import type { GatewaySettings } from '../ports/settings.ts';
import { type GeneralName, parseGeneralName } from '../x509/general-name.ts';

/** What this service is called, as alternative names of its TLS server certificate. */
export const serverNames = ({ serverNames }: Pick<GatewaySettings, 'serverNames'>): readonly GeneralName[] =>
  serverNames.map((name) => parseGeneralName(/^[\d.]+$|:/.test(name) ? `IP:${name}` : `DNS:${name}`));
