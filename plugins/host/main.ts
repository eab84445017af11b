import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { availableParallelism, networkInterfaces } from 'node:os';
import { createHealth } from '#adapters/inbound/health/health.ts';
import type { Limits } from '#adapters/inbound/http/limits.ts';
import { type Listener, openListener } from '#adapters/inbound/http/listener.ts';
import { lockDirectory } from '#adapters/outbound/system/platform.ts';
import { encodePem } from '#adapters/wire/pem.ts';
import type { TlsCredential } from '#core/ca/tls-credential.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Log } from '#core/ports/platform.ts';
import type { Plugin } from '../kit/contract.ts';
import { disabledNote, inboundOff } from './choose.ts';
import type { ServerConfiguration } from './config.ts';
import { type LoadedConfiguration, loadConfiguration, type Place } from './config-file.ts';
import { finishStart, firstStart, startOfParent } from './first-start.ts';
import { endTogether, grace, patience, stopSignal, Tasks, tellSystemd, watchReadiness } from './lifecycle.ts';
import { reason } from './reason.ts';
import {
  type Addresses,
  addresses,
  openLog,
  openService,
  rememberAddresses,
  rememberedAddresses,
} from './service.ts';
import { isWorker, runWorkers, tellReady } from './workers.ts';

/**
 * Serves until SIGTERM or SIGINT, then returns the exit status. The process that the operator started does the first start and
 * prints `postern ready <base URL>`. With several workers, only they serve requests.
 */
export async function serve(
  place: Place,
  catalog: readonly Plugin[],
  argv: readonly string[],
): Promise<number> {
  const loaded = await loadConfiguration(place, catalog);
  if (isWorker()) return serveHere(loaded, fixedPorts(loaded.configuration), tellReady);

  using _lock = await lockDataDirectory(loaded);
  const off = inboundOff(catalog, loaded.configuration.inbound);
  if (off.length > 0) console.log(disabledNote(off));
  const ports = await choosePorts(loaded.configuration);
  const ready = (where: Addresses): void => {
    try {
      rememberAddresses(loaded.dataDirectory, where);
    } catch (error) {
      console.error(
        `postern: addresses.json cannot be written, so commands may print outdated addresses: ${reason(error)}`,
      );
    }
    console.log(`postern ready ${where.baseUrl}`);
    tellSystemd();
  };
  const workers = numberOfWorkers(loaded.configuration);
  if (workers === 1) return await serveHere(loaded, ports, ready);

  const where = addresses(loaded.configuration, ports);
  let unfinished: boolean;
  {
    // Handled here only during the start; later, `runWorkers` handles signals.
    using signal = stopSignal();
    await using stack = new AsyncDisposableStack();
    const service = await openService(loaded, where, { logToStderr: true }, stack);
    const begun = await firstStart(service, signal.stopped);
    if (begun === 'stopped') return 0;
    unfinished = begun === 'unfinished';
  }
  // Workers share their ports, and another service could share them too: check that the ports are free.
  const host = loaded.configuration.server.host ?? anyAddress();
  for (const port of [ports.https, ports.http]) {
    await claim(host, port).catch((error) => {
      throw listening(Object.assign(error, { port }), ports);
    });
  }
  await using stack = new AsyncDisposableStack();
  return await runWorkers({
    log: await openLog(loaded, { logToStderr: true }, stack),
    count: workers,
    command: [...argv, '--https-port', String(ports.https), '--http-port', String(ports.http)],
    ready: () => ready(where),
    patience,
    unfinished,
  });
}

/**
 * Locks the data directory, if the store allows only one process, so that only one `serve` uses it. Other commands need no lock.
 * Gateways that share a database may share the directory too.
 */
async function lockDataDirectory(loaded: LoadedConfiguration): Promise<Disposable> {
  const { configuration, dataDirectory } = loaded;
  if (!configuration.store[0]?.plugin.oneProcess) return { [Symbol.dispose]() {} };
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const lock = lockDirectory(dataDirectory);
  if (lock) return lock;
  throw new Error(
    `the data directory ${dataDirectory} is in use by another postern serve, at ${rememberedAddresses(loaded).baseUrl}: ` +
      'stop that process first, or choose another data directory with --data',
  );
}

interface PortNumbers {
  readonly https: number;
  readonly http: number;
}

/** Serves in this process. Calls `ready` once connections are accepted. The parent of a worker has done the first start. */
async function serveHere(
  loaded: LoadedConfiguration,
  ports: PortNumbers,
  ready: (where: Addresses) => void,
): Promise<number> {
  const { configuration } = loaded;
  const { stopped } = stopSignal();
  const where = addresses(configuration, ports);
  await using stack = new AsyncDisposableStack();
  const service = await openService(loaded, where, { logToStderr: true }, stack);
  const { gateway, log } = service;
  const begun = isWorker() ? startOfParent() : await firstStart(service, stopped);
  if (begun === 'stopped') return 0;
  const inbound = await service.openInbound();

  let served = await gateway.tlsCredential();
  const host = configuration.server.host ?? anyAddress();
  const reusePort = isWorker();
  const listener = await openListener({
    mounts: [...createHealth(gateway), ...inbound.flatMap(({ mounts }) => mounts)],
    https: {
      port: ports.https,
      host,
      reusePort,
      credential: pem(served),
      minVersion: await gateway.minimumTls(),
    },
    http: { port: ports.http, host, reusePort },
    trustedProxies: configuration.server.trusted_proxies,
    limits: limits(configuration),
    requests: service.requests,
    onError: (error) => log.error('request failed', error),
  }).catch((error) => {
    throw listening(error, ports);
  });
  const tasks = new Tasks(log);
  const cut = new AbortController();
  const holder = crypto.randomUUID();
  stack.defer(async () => {
    cut.abort();
    const left = await endTogether(
      {
        requests: listener.close(grace),
        tasks: tasks.stop(),
        backups: gateway.backups.stop(),
        webhooks: gateway.delivered(),
      },
      grace + 500,
    );
    if (!left.includes('tasks')) await gateway.endMaintenance(holder).catch(() => undefined);
    if (left.length > 0) log.warn('stopped before all work was complete', { left: left.join(', ') });
  });

  const renew = async (): Promise<void> => {
    served = await renewCredential(gateway, listener, served, log);
  };
  gateway.onTlsCredential(renew);
  tasks.repeat('the TLS credential cannot be renewed', 1000, renew);
  tasks.repeat('maintenance failed', 30_000, () => gateway.maintain(holder));
  tasks.repeat('webhooks cannot be delivered', 1000, () => gateway.deliver(holder, cut.signal));
  tasks.repeat('devices cannot be imported', 2000, () => gateway.proceedImports());
  tasks.repeat('the health check failed', 30_000, watchReadiness(gateway, log));
  if (begun === 'unfinished') tasks.repeat('the start cannot be completed', 10_000, finishStart(service));
  const unknownKey = Promise.withResolvers<'unknown master key'>();
  tasks.repeat('the master key cannot be checked', 5000, async () => {
    if (!(await service.knowsMasterKey())) unknownKey.resolve('unknown master key');
  });
  log.info('serving', { baseUrl: where.baseUrl, httpsPort: ports.https, httpPort: ports.http });
  ready(where);

  const signal = await Promise.race([stopped, unknownKey.promise]);
  log.info('stopping', { signal });
  if (signal !== 'unknown master key') return 0;
  throw new Error(
    'the master key was rotated on another gateway: copy master.json and the key file from it (or set the new passphrase), ' +
      'then start this gateway again',
  );
}

/** Returns an error that tells the operator why the listener could not open its ports. */
function listening(error: NodeJS.ErrnoException & { readonly port?: number }, ports: PortNumbers): Error {
  const port = error.port ?? `${ports.https} or ${ports.http}`;
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} is in use by another process`,
    EACCES: `this account is not allowed to listen on port ${port}`,
    EADDRNOTAVAIL: 'server.host is not an address of this machine',
  };
  return new Error(why[error.code ?? ''] ?? error.message, { cause: error });
}

async function renewCredential(
  gateway: Gateway,
  listener: Listener,
  served: TlsCredential,
  log: Log,
): Promise<TlsCredential> {
  const current = await gateway.tlsCredential();
  if (current.id !== served.id) {
    listener.setCredential(pem(current));
    log.info('TLS credential replaced', { credential: current.id });
  }
  return current;
}

const pem = ({ certificate, chain, privateKey }: TlsCredential) => ({
  certificateChain: [certificate, ...chain].map((der) => encodePem('CERTIFICATE', der)).join(''),
  privateKey: encodePem('PRIVATE KEY', privateKey),
});

const limits = ({ limits }: ServerConfiguration): Partial<Limits> => ({
  connections: limits.connections,
  handshakeMs: limits.handshake_seconds * 1000,
  headerMs: limits.header_seconds * 1000,
  bodyMs: limits.body_seconds * 1000,
  idleMs: limits.idle_seconds * 1000,
  headerOctets: limits.header_octets,
  headerFields: limits.header_fields,
  pipelined: limits.pipelined,
});

/** Returns the number of worker processes: one for SQLite, which has one writer, otherwise one per CPU. */
function numberOfWorkers({ server, store }: ServerConfiguration): number {
  return server.workers ?? (store[0]?.plugin.oneProcess ? 1 : availableParallelism());
}

/** Returns the wildcard address: for IPv6 and IPv4, or for IPv4 only if the machine has no IPv6. */
function anyAddress(): string {
  const known = Object.values(networkInterfaces()).flat();
  return known.some((address) => address?.family === 'IPv6') ? '::' : '0.0.0.0';
}

const fixedPorts = ({ server }: ServerConfiguration): PortNumbers => ({
  https: server.https_port,
  http: server.http_port,
});

/** Replaces port 0 by a free port: the base URL and several workers need the number before anything listens. */
async function choosePorts({ server }: ServerConfiguration): Promise<PortNumbers> {
  const host = server.host ?? anyAddress();
  const https = server.https_port || (await claim(host, 0));
  return { https, http: server.http_port || (await claim(host, 0)) };
}

/** Opens the port for a moment and returns its number; 0 stands for any free port. Rejects if the port is not available. */
async function claim(host: string, port: number): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(port, host, resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}
