import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createBackups } from '#adapters/outbound/backup/backups.ts';
import { openLogDirectory } from '#adapters/outbound/system/log-directory.ts';
import { openLogFile } from '#adapters/outbound/system/log-file.ts';
import { openMasterKey } from '#adapters/outbound/system/master-key.ts';
import { keyFileOf, type MasterKeyOptions } from '#adapters/outbound/system/master-key-source.ts';
import { nextOf, recordPath } from '#adapters/outbound/system/master-record.ts';
import { passwords } from '#adapters/outbound/system/passwords.ts';
import { patterns } from '#adapters/outbound/system/patterns.ts';
import {
  createRequestContext,
  disksOf,
  systemClock,
  systemEntropy,
} from '#adapters/outbound/system/platform.ts';
import { createVault } from '#adapters/outbound/system/vault.ts';
import { createNotifier } from '#adapters/outbound/webhook/notifier.ts';
import { demandMasterKey, knowsMasterKey } from '#core/accounts/token-key.ts';
import { createGateway, type Gateway } from '#core/gateway.ts';
import type { Log, RequestContext } from '#core/ports/platform.ts';
import type { Store } from '#core/ports/store.ts';
import type { Inbound } from '../kit/contract.ts';
import type { ServerConfiguration } from './config.ts';
import type { LoadedConfiguration } from './config-file.ts';
import { openSlot } from './registry.ts';

/** The URLs of the service: `https://host:port` and `http://host:port`, without a trailing slash. */
export interface Addresses {
  readonly baseUrl: string;
  readonly publicUrl: string;
}

/** The opened parts of the service behind the listener. */
export interface Service extends Addresses {
  readonly store: Store;
  readonly gateway: Gateway;
  readonly log: Log;
  /** For the listener. */
  readonly requests: RequestContext;
  /** See `knowsMasterKey`. */
  knowsMasterKey(): Promise<boolean>;
  /** Opens the inbound plugins. Throws an OpenError. */
  openInbound(): Promise<readonly Inbound[]>;
}

/** Returns the configured URLs, or by default those of localhost with these ports. */
export function addresses(
  { server }: ServerConfiguration,
  ports: { readonly https: number; readonly http: number },
): Addresses {
  const baseUrl = server.base_url?.replace(/\/$/, '') ?? `https://localhost:${ports.https}`;
  const publicUrl =
    server.public_url?.replace(/\/$/, '') ?? `http://${new URL(baseUrl).hostname}:${ports.http}`;
  return { baseUrl, publicUrl };
}

export interface ServiceOptions {
  readonly logToStderr: boolean;
  /** See `MasterKeyOptions`. */
  readonly sealWithNew?: boolean;
}

/** Returns where the configuration puts the master key. */
export function masterKeyOptions({ configuration, dataDirectory }: LoadedConfiguration): MasterKeyOptions {
  const { key_file: file, passphrase, new_passphrase: newPassphrase } = configuration.secrets;
  return {
    dataDirectory,
    ...(file !== undefined && { file }),
    ...(passphrase !== undefined && { passphrase }),
    ...(newPassphrase !== undefined && { newPassphrase }),
  };
}

const addressesFile = 'addresses.json';

/** Stores the URLs for other commands, which do not know the port options of the running server. */
export function rememberAddresses(dataDirectory: string, addresses: Addresses): void {
  const path = join(dataDirectory, addressesFile);
  // Gateways that share the directory may start at the same moment.
  const draft = `${path}.${process.pid}.new`;
  try {
    writeFileSync(draft, `${JSON.stringify(addresses)}\n`, { mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Returns the URLs of the last start, or those of the configuration. */
export function rememberedAddresses({ configuration, dataDirectory }: LoadedConfiguration): Addresses {
  const path = join(dataDirectory, addressesFile);
  if (!existsSync(path)) {
    const { https_port: https, http_port: http } = configuration.server;
    return addresses(configuration, { https, http });
  }
  const remembered = parseAddresses(readFileSync(path, 'utf8'));
  if (!remembered) throw new Error(`${path} is damaged: delete it, and the next start writes a new one`);
  return remembered;
}

function parseAddresses(text: string): Addresses | undefined {
  try {
    const { baseUrl, publicUrl } = JSON.parse(text);
    if (typeof baseUrl === 'string' && typeof publicUrl === 'string') return { baseUrl, publicUrl };
  } catch {}
  return undefined;
}

/**
 * Opens the configured plugins, slot by slot, and creates the gateway. `stack` closes everything in reverse order; the caller
 * disposes of it, also if this function throws. Throws an OpenError, or an Error with a message for the operator.
 */
export async function openService(
  loaded: LoadedConfiguration,
  { baseUrl, publicUrl }: Addresses,
  options: ServiceOptions,
  stack: AsyncDisposableStack,
): Promise<Service> {
  const { configuration, dataDirectory } = loaded;
  const requests = createRequestContext();
  const log = await openLog(loaded, { ...options, requests }, stack);
  const { sealWithNew = false } = options;
  const masterKey = await openMasterKey({ ...masterKeyOptions(loaded), sealWithNew });
  const vault = createVault(masterKey.subKeys('postern vault'));
  const surroundings = { dataDirectory, log, clock: systemClock, entropy: systemEntropy, vault };
  const keyVault = createVault(masterKey.subKeys('postern key files'));

  const stores = await openSlot('store', configuration.store, surroundings, stack);
  const [store] = stores.values();
  await demandMasterKey({ store: store!, vault });
  const keyStores = await openSlot('keys', configuration.keys, { ...surroundings, vault: keyVault }, stack);
  const issuers = await openSlot('issuers', configuration.issuers, { ...surroundings, keyStores }, stack);
  const logFiles = openLogDirectory(logDirectory(configuration, dataDirectory));
  const backups = createBackups({
    store: store!,
    keyStores,
    clock: systemClock,
    files: backedUpFiles(loaded),
    ...backupOptions(configuration),
  });
  const ports = {
    ...surroundings,
    store: store!,
    requests,
    keyStores,
    ownKeyStores: ownKeyStores(configuration),
    issuers,
    notifier: createNotifier(),
    passwords,
    patterns,
    logFiles,
    disks: () => disksOf({ data: dataDirectory, log: logDirectory(configuration, dataDirectory) }),
    backups,
  };
  const gateway = createGateway(ports, {
    instance: `${hostname()} (process ${process.pid})`,
    defaultDomain: configuration.domains.default,
    publicUrl,
    ...ocspUrl(configuration, publicUrl),
    baseUrl,
    protocols: configuration.inbound.map(({ plugin }) => plugin.name),
    serverNames: serverNames(configuration, baseUrl, publicUrl),
    loginLimits: loginLimits(configuration),
    ...(configuration.metrics.token !== undefined && { scrapeToken: configuration.metrics.token }),
  });
  return {
    store: store!,
    gateway,
    log,
    requests,
    baseUrl,
    publicUrl,
    knowsMasterKey: () => knowsMasterKey({ store: store!, vault }),
    async openInbound() {
      const inbound = { ...surroundings, gateway, baseUrl };
      return [...(await openSlot('inbound', configuration.inbound, inbound, stack)).values()];
    },
  };
}

/** Returns the names of built-in key stores. Only these are trusted to say that they sign in this process. */
const ownKeyStores = ({ keys }: ServerConfiguration): ReadonlySet<string> =>
  new Set(keys.filter(({ builtIn }) => builtIn).map(({ name }) => name));

/** Returns the URL of the OCSP responder. It needs plain HTTP: a client of HTTPS would have to check another certificate first. */
function ocspUrl({ inbound }: ServerConfiguration, publicUrl: string): { ocspUrl?: string } {
  if (!publicUrl.startsWith('http://')) return {};
  for (const { plugin, config } of inbound) {
    if (plugin.ocspPath) return { ocspUrl: publicUrl + plugin.ocspPath(config) };
  }
  return {};
}

/** Opens the log, by default in the data directory, which is created if it is missing. `stack` closes the log. */
export async function openLog(
  { configuration, dataDirectory }: LoadedConfiguration,
  options: { readonly logToStderr: boolean; readonly requests?: RequestContext },
  stack: AsyncDisposableStack,
): Promise<Log> {
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const { directory, level, max_bytes: maxBytes, max_files: maxFiles } = configuration.log;
  const file = await openLogFile({
    directory: directory ?? join(dataDirectory, 'logs'),
    level,
    stderr: options.logToStderr,
    ...(options.requests && { requests: options.requests }),
    ...(maxBytes !== undefined && { maxBytes }),
    ...(maxFiles !== undefined && { maxFiles }),
  });
  stack.defer(() => file.close());
  return file;
}

const logDirectory = ({ log }: Pick<ServerConfiguration, 'log'>, dataDirectory: string): string =>
  log.directory ?? join(dataDirectory, 'logs');

/** Returns the path of each file in a backup by its name there. */
export function backedUpFiles(loaded: LoadedConfiguration) {
  const { configuration, dataDirectory, file } = loaded;
  const { key_file: keyFile, passphrase } = configuration.secrets;
  return {
    'master.json': join(dataDirectory, 'master.json'),
    ...(passphrase === undefined && { 'master.key': keyFile ?? join(dataDirectory, 'master.key') }),
    ...rotationFiles(loaded),
    ...(file !== undefined && { 'postern.toml': file }),
  };
}

/** Returns the files that exist while the master key is rotated, when the new key encrypts some of the secrets. */
function rotationFiles(loaded: LoadedConfiguration) {
  const options = masterKeyOptions(loaded);
  const key = options.passphrase === undefined && { 'master.key.new': nextOf(keyFileOf(options)) };
  return { 'master.json.new': nextOf(recordPath(loaded.dataDirectory)), ...key };
}

function backupOptions({ backup }: ServerConfiguration) {
  const { passphrase, keep, sftp_key: key, sftp_key_passphrase, sftp_host_key: hostKey } = backup;
  if (key === undefined || hostKey === undefined) return { passphrase, keep, sftp: undefined };
  const keyPassphrase = sftp_key_passphrase;
  return { passphrase, keep, sftp: { key, hostKey, ...(keyPassphrase !== undefined && { keyPassphrase }) } };
}

/** Returns the DNS names and IP addresses by which clients may reach this machine. */
function serverNames({ server }: ServerConfiguration, ...urls: readonly string[]): readonly string[] {
  if (server.names) return server.names;
  const reached = urls.map((url) => new URL(url).hostname.replace(/^\[|\]$/g, ''));
  const machine = hostname().toLowerCase();
  const own = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/.test(machine) ? [machine] : [];
  return [...new Set([...reached, 'localhost', ...own, '127.0.0.1', '::1'])];
}

function loginLimits({ limits }: ServerConfiguration) {
  return {
    perName: limits.login_failures_per_name,
    perAddress: limits.login_failures_per_address,
    window: limits.login_window_seconds * 1000,
  };
}
