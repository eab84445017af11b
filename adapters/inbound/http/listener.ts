import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Fault } from '#core/fault.ts';
import { Dispatcher } from './dispatcher.ts';
import { Engine } from './engine.ts';
import { SocketPeer, TrustedProxies } from './evidence.ts';
import type { Mount } from './exchange.ts';
import { defaultLimits, type Limits } from './limits.ts';
import { orderMounts } from './target.ts';

/** What the listener proves itself with. */
export interface Credential {
  /** PEM, leaf first. */
  readonly certificateChain: string;
  /** PEM, or a private key of node:crypto. */
  readonly privateKey: string | KeyObject;
}

export interface Endpoint {
  readonly port: number; // 0: any free one
  readonly host: string;
  /** Several processes listen on this port and the kernel deals out the connections. */
  readonly reusePort?: boolean;
}

type MinVersion = 'TLSv1.2' | 'TLSv1.3';

export interface ListenerOptions {
  readonly mounts: readonly Mount[];
  /** `minVersion`: of TLS, 1.2 unless it says otherwise. */
  readonly https: Endpoint & { readonly credential: Credential; readonly minVersion?: MinVersion };
  readonly http?: Endpoint;
  /** Addresses and CIDR ranges, IPv4 and IPv6. */
  readonly trustedProxies: readonly string[];
  readonly limits?: Partial<Limits>;
  /** What went wrong on our side, for the log. */
  readonly onError: (error: unknown) => void;
}

export interface Listener {
  readonly httpsPort: number;
  readonly httpPort: number | undefined;
  /** Served from the next handshake on. Fault malformed when it cannot be; the old one stays then. */
  setCredential(credential: Credential): void;
  /** Accepts nothing more, lets requests under way end within `graceMs`, then cuts. Resolves when all is closed. */
  close(graceMs: number): Promise<void>;
}

const tlsOptions = {
  // Trust is decided in the core, per domain; the handshake only proves possession.
  requestCert: true,
  rejectUnauthorized: false,
  maxVersion: 'TLSv1.3',
  // RFC 9325 §4.2: forward secrecy and AEAD; TLS 1.3 has nothing else.
  ciphers: [
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  // Bun's default leaves out P-521 and Ed25519, for which a device would not even get to present its certificate.
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
  // node:tls takes a key without a certificate and lets every handshake fail.
  if (!new X509Certificate(certificateChain).checkPrivateKey(key)) throw new Error('the key is another');
  return {
    ...tlsOptions,
    minVersion,
    cert: certificateChain,
    key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** What OpenSSL says of a credential is for the log: it may quote the input. */
function tryCredential<T>(use: () => T): T {
  try {
    return use();
  } catch (cause) {
    throw new Fault('malformed', 'not a certificate chain with its private key', { cause });
  }
}

/**
 * Opens the HTTPS listener and, if asked for, the plain one. node:tls accepts, `RequestParser` reads: no other server
 * that Bun has shows the certificates of a client. Fault malformed for a credential or an address range that is
 * none; the error of node:net when a port cannot be had.
 */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { https, http, onError } = options;
  const { minVersion = 'TLSv1.2' } = https;
  const limits = { ...defaultLimits, ...options.limits };
  const proxies = new TrustedProxies(options.trustedProxies);
  const dispatcher = new Dispatcher(orderMounts(options.mounts), proxies, onError);
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
    engine.adopt(socket, new SocketPeer(socket.remoteAddress, socket));
  });
  // Bun leaves the socket open, also when the handshake has timed out.
  secure.on('tlsClientError', (_error, socket) => socket.destroy());

  const plain =
    http && createTcpServer((socket) => engine.adopt(socket, new SocketPeer(socket.remoteAddress)));

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
