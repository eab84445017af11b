import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from '@sinclair/typebox';
import type { RemoteEstOptions, Trust } from '#adapters/outbound/remote-est/remote-est.ts';
import { readCertificateFile } from '#adapters/wire/certificate-file.ts';
import { readPrivateKey } from '#adapters/wire/private-key.ts';
import { definePlugin } from '../kit/contract.ts';

const adapter = () => import('#adapters/outbound/remote-est/remote-est.ts');
const path = (description: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, pathname: true, description, examples: [example] }));
const text = (maxLength: number, description: string, example: unknown) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description, examples: [example] }));
const seconds = (min: number, max: number, unset: string, description: string) =>
  Type.Optional(Type.Integer({ minimum: min, maximum: max, unset, description }));

const config = Type.Object({
  url: Type.String({
    title: 'an address like https://ca.example or https://ca.example/.well-known/est',
    pattern: '^https://[^?#@]+$',
    maxLength: 1000,
    description: 'The EST server. If the URL has no path, the path is `/.well-known/est`.',
    examples: ['https://ca.example'],
  }),
  label: Type.Optional(
    Type.String({
      title: 'a label like plant',
      pattern: '^[\\w.~-]+(/[\\w.~-]+)*$',
      maxLength: 300,
      description: 'Selects one of the CAs or profiles of the upstream (RFC 7030 §3.2.2).',
      examples: ['plant'],
    }),
  ),
  username: text(255, 'The user name for HTTP Basic.', 'postern'),
  password: text(1000, 'The password for HTTP Basic.', { file: 'upstream-password' }),
  client_certificate: path(
    'An initial client certificate. Postern renews it when two thirds of its validity period have passed.',
    'upstream.pem',
  ),
  client_key: path('The private key of `client_certificate`.', 'upstream.key'),
  client_key_password: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'The password of `client_key`, or of the PKCS#12 file.',
      examples: [{ file: 'upstream-key-password' }],
    }),
  ),
  client_name: text(
    64,
    'The common name of a client certificate that Postern obtains with `username` and `password`, and renews. Cannot be combined with `client_certificate`.',
    'postern.plant.example',
  ),
  trust: Type.Optional(
    Type.Object(
      {
        file: path('A file of trust anchors. Cannot be combined with `fingerprint`.', 'upstream-root.pem'),
        fingerprint: Type.Optional(
          Type.String({
            title: 'a SHA-256 in hexadecimal',
            pattern: '^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$',
            description: 'The SHA-256 fingerprint of the root of the upstream.',
            examples: ['5E'.repeat(32)],
          }),
        ),
      },
      { description: 'How Postern verifies the upstream.', unset: 'the CAs of the operating system' },
    ),
  ),
  timeout_seconds: seconds(1, 120, '20', 'How long one response of the upstream may take.'),
  retry_after_least_seconds: seconds(1, 3600, '2', 'The lower bound for Retry-After of the upstream.'),
  retry_after_most_seconds: seconds(1, 3600, '3600', 'The upper bound for Retry-After of the upstream.'),
});

type Config = Static<typeof config>;

export const remoteEst = definePlugin({
  slot: 'issuers',
  name: 'remote-est',
  summary: 'Requests certificates from an upstream CA over EST.',
  config,
  async open(config, { name, dataDirectory, vault, clock, log }) {
    const { username, password, client_name: credentialName, timeout_seconds: timeout = 20 } = config;
    if ((username === undefined) !== (password === undefined))
      throw new Error('username and password must be set together');
    if (credentialName !== undefined && (username === undefined || config.client_certificate !== undefined))
      throw new Error(
        'client_name needs username and password, and cannot be combined with client_certificate',
      );
    const most = config.retry_after_most_seconds ?? 3600;
    const least = config.retry_after_least_seconds ?? Math.min(2, most);
    if (least > most)
      throw new Error('retry_after_least_seconds must not be greater than retry_after_most_seconds');
    return (await adapter()).openRemoteEst({
      name,
      url: place(config),
      label: config.label,
      trust: await trusted(config),
      ...(username !== undefined && password !== undefined && { login: { username, password } }),
      credential: await credential(config),
      credentialName,
      timeout: timeout * 1000,
      waiting: { least, most, usual: Math.min(most, Math.max(least, 60)) },
      file: join(dataDirectory, 'issuers', `${name}.credential`),
      vault,
      clock,
      log,
    });
  },
});

/** Returns the URL of the upstream, by default with the well-known path (RFC 7030 §3.2.2). */
function place({ url, label }: Config): string {
  const { origin, pathname } = new URL(url);
  const base = pathname === '/' ? '/.well-known/est' : pathname.replace(/\/+$/, '');
  return `${origin}${base}${label === undefined ? '' : `/${label}`}`;
}

async function trusted({ trust }: Config): Promise<Trust> {
  const { file, fingerprint } = trust ?? {};
  if (file !== undefined && fingerprint !== undefined)
    throw new Error('trust must have either a file or a fingerprint, not both');
  if (fingerprint !== undefined)
    return { kind: 'fingerprint', sha256: fingerprint.replaceAll(':', '').toUpperCase() };
  return file === undefined
    ? { kind: 'system' }
    : { kind: 'anchors', certificates: await readCertificateFile(new Uint8Array(await readFile(file)), '') };
}

async function credential(config: Config): Promise<RemoteEstOptions['credential']> {
  const { client_certificate: certificate, client_key: key, client_key_password: password = '' } = config;
  if (certificate === undefined && key === undefined) return undefined;
  if (certificate === undefined || key === undefined)
    throw new Error('client_certificate and client_key must be set together');
  return {
    certificates: await readCertificateFile(new Uint8Array(await readFile(certificate)), password),
    key: await readPrivateKey(new Uint8Array(await readFile(key)), password),
  };
}
