import { request as certificationRequest } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import type { Device } from './site.ts';

/** The number of keys, which the devices share. The server treats each request as a new one nevertheless. */
const keyCount = 64;

const keyOf = (n: number) => testKey('p-256', String(n % keyCount));

const csrOf = (device: Device, n: number): string =>
  certificationRequest(keyOf(n), `CN=${device.name}`).toBase64();

const basic = ({ name, password }: Device): string => `Basic ${btoa(`${name}:${password}`)}`;

/** Returns an HTTP request, one octet per character, as `Client` sends it. */
export function post(path: string, headers: Record<string, string>, body: string): string {
  const fields = { Host: 'localhost', ...headers, 'Content-Length': String(body.length) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** Returns an HTTP request for each device. */
export const restEnrolments = (devices: readonly Device[]): string[] =>
  devices.map((device, n) =>
    post(
      '/rest/default/enroll',
      { Authorization: basic(device), 'Content-Type': 'application/json' },
      JSON.stringify({ csr: csrOf(device, n) }),
    ),
  );

/**
 * Returns `count` requests that no gateway has received before, because the same request is forwarded to an upstream CA only once.
 * `from`: the number of requests returned earlier.
 */
export const newEnrolments = (devices: readonly Device[], from: number, count: number): string[] =>
  Array.from({ length: count }, (_, n) => {
    const device = devices[(from + n) % devices.length]!;
    return post(
      '/rest/default/tls_client/enroll',
      { Authorization: basic(device), 'Content-Type': 'application/json' },
      JSON.stringify({ csr: csrOf(device, Math.floor((from + n) / devices.length)) }),
    );
  });

export const estEnrolments = (devices: readonly Device[]): string[] =>
  devices.map((device, n) =>
    post(
      '/.well-known/est/default/simpleenroll',
      { Authorization: basic(device), 'Content-Type': 'application/pkcs10' },
      csrOf(device, n),
    ),
  );

/** Returns renewals, to be sent over connections that authenticate with the certificate to be renewed. */
export const estRenewals = (devices: readonly Device[]): string[] =>
  devices.map((device, n) =>
    post(
      '/.well-known/est/default/simplereenroll',
      { 'Content-Type': 'application/pkcs10' },
      csrOf(device, n),
    ),
  );

/** Returns the private key (PKCS#8 in PEM) of the n-th device. */
export const privateKeyOf = (n: number): string => keyOf(n).pem();
