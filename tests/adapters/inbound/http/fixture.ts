import { connect as connectTcp, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { HttpRequest, HttpResponse, Mount } from '#adapters/inbound/http/exchange.ts';
import {
  type Credential,
  type Listener,
  type ListenerOptions,
  openListener,
} from '#adapters/inbound/http/listener.ts';
import { defaultSignatureAlgorithm, type KeyType } from '#core/x509/algorithm.ts';
import { assembleCertificate, buildTbsCertificate } from '#core/x509/certificate.ts';
import { basicConstraintsExtension } from '#core/x509/extensions/usage.ts';
import { type Name, parseDistinguishedName } from '#core/x509/name.ts';
import { type TestKey, testKey } from '#tests/fixtures/keys.ts';
import { pem } from '#tests/fixtures/openssl.ts';

export interface Identity {
  readonly name: Name;
  readonly key: TestKey;
  readonly certificate: Uint8Array; // DER
  /** Of the certificate. */
  readonly pem: string;
}

/** Returns a certificate signed by `issuer`, or self-signed without one. */
export function issue(
  cn: string,
  options: { issuer?: Identity; ca?: boolean; notAfter?: number; type?: KeyType } = {},
): Identity {
  const name = parseDistinguishedName(`CN=${cn}`);
  const key = testKey(options.type ?? 'p-256', cn);
  const issuer = options.issuer ?? { name, key };
  const signatureAlgorithm = defaultSignatureAlgorithm(issuer.key.publicKey.type);
  const tbs = buildTbsCertificate({
    serial: Uint8Array.of(1),
    signatureAlgorithm,
    issuer: issuer.name,
    subject: name,
    notBefore: Date.UTC(2020, 0),
    notAfter: options.notAfter ?? Date.UTC(2049, 0),
    spki: key.publicKey.spki,
    extensions: [basicConstraintsExtension({ ca: options.ca ?? false })],
  });
  const certificate = assembleCertificate(tbs, signatureAlgorithm, issuer.key.sign(signatureAlgorithm, tbs));
  return { name, key, certificate, pem: pem('CERTIFICATE', certificate) };
}

/**
 * A mount with its own form of errors, `refused <status> <detail>`, so that a test can tell who rejected a
 * request.
 */
export function mount(
  prefix: string,
  handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
  options: Partial<Pick<Mount, 'plainHttp' | 'bodyLimit'>> = {},
): Mount {
  return {
    prefix,
    plainHttp: true,
    bodyLimit: 1_000,
    ...options,
    handle: async (request) => handle(request),
    refuse: (status, detail) => ({
      status,
      headers: { 'x-form': prefix },
      body: `refused ${status} ${detail}`,
    }),
  };
}

export const text = (body: string, status = 200): HttpResponse => ({ status, headers: {}, body });

export const credentialOf = (identity: Identity): Credential => ({
  certificateChain: identity.pem,
  privateKey: identity.key.pem(),
});

/** Opens a listener on 127.0.0.1 with free ports and both schemes. Its errors go to `errors`. */
export function open(
  mounts: readonly Mount[],
  options: Partial<ListenerOptions> & { errors?: unknown[] } = {},
): Promise<Listener> {
  return openListener({
    mounts,
    https: { port: 0, host: '127.0.0.1', credential: credentialOf(issue('localhost')) },
    http: { port: 0, host: '127.0.0.1' },
    trustedProxies: [],
    onError: (error) => {
      if (!options.errors) throw error;
      options.errors.push(error);
    },
    ...options,
  });
}

export const connectPlain = (port: number): Socket => connectTcp({ port, host: '127.0.0.1' });

export const connectSecure = (port: number, options: ConnectionOptions = {}): ReturnType<typeof connectTls> =>
  connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });

/** Writes `octets`; returns what is received until the other side closes. */
export async function talk(socket: Socket, octets: string | Uint8Array = ''): Promise<string> {
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  if (octets.length > 0) socket.write(octets);
  await closed;
  return Buffer.concat(received).toString('latin1');
}

/** Resolves to what `socket` received when that includes `wanted`. Rejects if the socket closes before. */
export function until(socket: Socket, wanted: string): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('close', () => reject(new Error(`closed without "${wanted}" in "${received}"`)));
    let received = '';
    const onData = (chunk: Buffer): void => {
      received += chunk.toString('latin1');
      if (!received.includes(wanted)) return;
      socket.off('data', onData);
      resolve(received);
    };
    socket.on('data', onData);
  });
}

/** Returns an HTTP/1.1 request that closes its connection. */
export const request = (line: string, fields: readonly string[] = [], body = ''): string =>
  [`${line} HTTP/1.1`, 'Host: pki', 'Connection: close', ...fields, '', body].join('\r\n');

export const statusOf = (response: string): number => Number(response.slice(9, 12));
export const bodyOf = (response: string): string => response.slice(response.indexOf('\r\n\r\n') + 4);
