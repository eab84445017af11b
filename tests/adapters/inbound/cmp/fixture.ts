import {
  CmpClient,
  type CmpCredential,
  type CmpServerOptions,
  cmpServer,
} from '#tests/fixtures/cmp-client.ts';
import { type Installation, installation, testClock } from '#tests/fixtures/installation.ts';

/** A whole service with its CMP endpoint. */
export interface CmpSite extends Installation {
  readonly server: ReturnType<typeof cmpServer>;
  /** Registers a device; returns the protection of its first messages. */
  cmpDevice(name: string, domain?: number): Promise<CmpCredential & { reference: string; secret: string }>;
  client(credential: CmpCredential): CmpClient;
}

export async function cmpSite(options: CmpServerOptions = {}, clock = testClock()): Promise<CmpSite> {
  const site = await installation({ clock });
  const server = cmpServer(site.gateway, site.clock, options);
  return {
    ...site,
    server,
    async cmpDevice(name, domain) {
      const { device } = await site.device(name, domain);
      const config = await site.gateway.noOnboardingConfigs.read(site.admin, device.noOnboardingConfig!);
      return { reference: name, secret: config.cmpSharedSecret! };
    },
    client: (credential) => new CmpClient(server.mount, credential),
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}
