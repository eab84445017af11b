import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Fault } from '#core/fault.ts';
import type { RequestContext } from '#core/ports/platform.ts';
import { Dispatcher } from './dispatcher.ts';
import { Engine } from './engine.ts';
import { SocketPeer, TrustedProxies } from './evidence.ts';
import type { Mount } from './exchange.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { orderMounts } from './target.ts';

/** The TLS certificate of the listener and its key. */
export interface Credential {
  /** PEM, leaf first. */
  readonly certificateChain: string;
  /** PEM, or a private key of node:crypto. */
  readonly privateKey: string | KeyObject;
}

export interface Endpoint {
  readonly port: number; // 0: any free one
  readonly host: string;
  /** Lets several processes listen on this port; the kernel distributes the connections. */
  readonly reusePort?: boolean;
}

type MinVersion = 'TLSv1.2' | 'TLSv1.3';

export interface ListenerOptions {
  readonly mounts: readonly Mount[];
  /** `minVersion`: the lowest TLS version accepted; by default TLS 1.2. */
  readonly https: Endpoint & { readonly credential: Credential; readonly minVersion?: MinVersion };
  readonly http?: Endpoint;
  /** Addresses and CIDR ranges, IPv4 and IPv6. */
  readonly trustedProxies: readonly string[];
  readonly limits?: Partial<Limits>;
  /** In which requests are handled. */
  readonly requests?: RequestContext;
  /** Called with every failure of Postern itself, to be logged. */
  readonly onError: (error: unknown) => void;
}

export interface Listener {
  readonly httpsPort: number;
  readonly httpPort: number | undefined;
  /** Uses `credential` from the next handshake on. Throws Fault `malformed` if it is invalid, and keeps the old one. */
  setCredential(credential: Credential): void;
  /** Stops accepting connections and closes all, those with a request in progress after at most `graceMs`. */
  close(graceMs: number): Promise<void>;
}

const tlsOptions = {
  // Trust is decided in the core, per domain; the handshake only proves possession.
  requestCert: true,
  rejectUnauthorized: false,
  maxVersion: 'TLSv1.3',
  // RFC 9325 §4.2: forward secrecy and AEAD only. Every cipher suite of TLS 1.3 has both.
  ciphers: [
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  // Bun's default lacks P-521 and Ed25519: devices with such keys could not send their certificates.
  sigalgs: [
    'ecdsa_secp256r1_sha256',
    'ecdsa_secp384r1_sha384',
    'ecdsa_secp521r1_sha512',
    'ed25519',
    'rsa_pss_rsae_sha256',
    'rsa_pss_rsae_sha384',
    'rsa_pss_rsae_sha512',
    'rsa_pkcs1_sha256',
    'rsa_pkcs1_sha384',
    'rsa_pkcs1_sha512',
  ].join(':'),
  ALPNProtocols: ['http/1.1'],
} as const;

function tlsContext(
  { certificateChain, privateKey }: Credential,
  minVersion: MinVersion,
): typeof tlsOptions & { minVersion: MinVersion; cert: string; key: string } {
  const key = typeof privateKey === 'string' ? createPrivateKey(privateKey) : privateKey;
  // node:tls accepts a key that does not belong to the certificate, and then every handshake fails.
  if (!new X509Certificate(certificateChain).checkPrivateKey(key)) {
    throw new Error('the private key does not belong to the certificate');
  }
  return {
    ...tlsOptions,
    minVersion,
    cert: certificateChain,
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** Hides OpenSSL's message from the caller, because it may quote the input. It is only logged. */
function tryCredential<T>(use: () => T): T {
  try {
    return use();
  } catch (cause) {
    throw new Fault(
      'malformed',
      'the TLS credential is not a certificate chain with its private key in PEM',
      { cause },
    );
  }
}

/**
 * Opens the HTTPS listener and, if configured, the plain HTTP listener. node:tls accepts the connections because no other server
 * in Bun exposes client certificates. Throws Fault `malformed` for an invalid credential or address range, and the error
 * of node:net when a port is not available.
 */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { https, http, onError } = options;
  const { minVersion = 'TLSv1.2' } = https;
  const limits = { ...defaultLimits, ...options.limits };
  const proxies = new TrustedProxies(options.trustedProxies);
  const dispatcher = new Dispatcher(orderMounts(options.mounts), proxies, onError, options.requests);
  const secure = tryCredential(() =>
    createTlsServer({ ...tlsContext(https.credential, minVersion), handshakeTimeout: limits.handshakeMs }),
  );
  const engine = new Engine(dispatcher, limits, onError);
  const handshaking = new Set<Socket>();
  secure.on('connection', (socket) => {
    handshaking.add(socket);
    socket.on('close', () => handshaking.delete(socket));
  });
  secure.on('secureConnection', (socket) => {
    handshaking.delete(socket);
    engine.serve(socket, new SocketPeer(socket.remoteAddress, socket));
  });
  // Bun does not close the socket, not even after a handshake timeout.
  secure.on('tlsClientError', (_error, socket) => socket.destroy());

  const plain =
    http && createTcpServer((socket) => engine.serve(socket, new SocketPeer(socket.remoteAddress)));

  const servers = plain ? [secure, plain] : [secure];
  const shut = async (): Promise<void> => {
    await Promise.all(servers.map(stop));
  };
  for (const server of servers) server.maxConnections = limits.connections;
  try {
    await listen(secure, https);
    if (plain) await listen(plain, http);
  } catch (error) {
    await shut();
    await engine.close(0);
    throw error;
  }
  for (const server of servers) server.on('error', onError);

  return {
    httpsPort: portOf(secure),
    httpPort: plain && portOf(plain),
    setCredential: (credential) =>
      tryCredential(() => secure.setSecureContext(tlsContext(credential, minVersion))),
    async close(graceMs) {
      const stopped = shut();
      for (const socket of handshaking) socket.destroy();
      await engine.close(graceMs);
      await stopped;
    },
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

function listen(server: Server, { port, host, reusePort = false }: Endpoint): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, reusePort, backlog: 1024 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

const stop = (server: Server): Promise<void> =>
  new Promise((resolve) => (server.listening ? server.close(() => resolve()) : resolve()));
