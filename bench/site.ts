import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Principal } from '#core/access/principal.ts';
import type { Gateway } from '#core/gateway.ts';
import { catalog } from '#plugins/catalog.ts';
import { loadConfiguration } from '#plugins/host/config-file.ts';
import { addresses, openService } from '#plugins/host/service.ts';

/** A device that may enrol. */
export interface Device {
  readonly name: string;
  readonly password: string;
  readonly sharedSecret: string;
}

/** A data directory after the first start, with registered devices, for a server to use. */
export interface Site extends Disposable {
  readonly directory: string;
  /** The configuration file. */
  readonly config: string;
  readonly devices: readonly Device[];
}

/** The store rejects more concurrent operations. */
const mostAtOnce = 50;

/** Creates a data directory. `tables`: the configuration (TOML). */
export async function createSite(deviceCount: number, tables: string): Promise<Site> {
  const root = mkdtempSync(join(tmpdir(), 'postern-bench-'));
  const directory = join(root, 'data');
  const config = join(root, 'postern.toml');
  mkdirSync(directory);
  writeFileSync(config, tables);
  try {
    const devices = await register(directory, config, deviceCount);
    return { directory, config, devices, [Symbol.dispose]: () => rmSync(root, { recursive: true }) };
  } catch (error) {
    rmSync(root, { recursive: true });
    throw error;
  }
}

/** Opens the gateway without a server and performs `work` as the operator. */
export async function administer<T>(
  { directory, config }: Pick<Site, 'directory' | 'config'>,
  work: (gateway: Gateway, operator: Principal) => Promise<T>,
): Promise<T> {
  const loaded = await loadConfiguration({ data: directory, config }, catalog);
  await using stack = new AsyncDisposableStack();
  const where = addresses(loaded.configuration, { https: 8443, http: 8080 });
  const { gateway } = await openService(loaded, where, { logToStderr: false }, stack);
  await gateway.bootstrap({ adminPassword: crypto.randomUUID(), holder: 'bench' }, () => Bun.sleep(50));
  return await work(gateway, gateway.accounts.operator('bench'));
}

const register = (directory: string, config: string, count: number): Promise<Device[]> =>
  administer({ directory, config }, async (gateway, operator) => {
    const domain = (await gateway.domains.list(operator, { limit: 1 })).records[0]!.id;
    const add = async (n: number): Promise<Device> => {
      const device = await gateway.devices.create(operator, { commonName: `pump-${n}`, domain });
      const secrets = await gateway.noOnboardingConfigs.read(operator, device.noOnboardingConfig!);
      return {
        name: device.commonName,
        password: secrets.estPassword!,
        sharedSecret: secrets.cmpSharedSecret!,
      };
    };
    const devices: Device[] = [];
    while (devices.length < count) {
      const size = Math.min(mostAtOnce, count - devices.length);
      devices.push(
        ...(await Promise.all(Array.from({ length: size }, (_, n) => add(devices.length + n + 1)))),
      );
    }
    return devices;
  });
