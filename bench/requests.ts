import { request as certificationRequest } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import type { Device } from './site.ts';

/** Devices share so many keys: the server sees each request anew all the same. */
const keyCount = 64;

const keyOf = (n: number) => testKey('p-256', String(n % keyCount));

const csrOf = (device: Device, n: number): string =>
  certificationRequest(keyOf(n), `CN=${device.name}`).toBase64();

const basic = ({ name, password }: Device): string => `Basic ${btoa(`${name}:${password}`)}`;

/** One octet a character, as `Client` sends it. */
export function post(path: string, headers: Record<string, string>, body: string): string {
  const fields = { Host: 'localhost', ...headers, 'Content-Length': String(body.length) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** A request as it goes over the wire, one for each device. */
export const restEnrolments = (devices: readonly Device[]): string[] =>
  devices.map((device, n) =>
    post(
      '/rest/default/enroll',
      { Authorization: basic(device), 'Content-Type': 'application/json' },
      JSON.stringify({ csr: csrOf(device, n) }),
    ),
  );

/** As many that no gateway has seen: an upstream CA is not asked for the same twice. `from`: where the last ones ended. */
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

/** To be sent over connections whose client certificate is the one that is renewed. */
export const estRenewals = (devices: readonly Device[]): string[] =>
  devices.map((device, n) =>
    post(
      '/.well-known/est/default/simplereenroll',
      { 'Content-Type': 'application/pkcs10' },
      csrOf(device, n),
    ),
  );

/** PKCS#8, PEM: of the key that the n-th device's requests are for. */
export const privateKeyOf = (n: number): string => keyOf(n).pem();
