import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from '@sinclair/typebox';
import type { Identity, Trust } from '#adapters/outbound/remote-cmp/remote-cmp.ts';
import { readCertificateFile } from '#adapters/wire/certificate-file.ts';
import type { MacParameters } from '#adapters/wire/cmp/mac.ts';
import { encodePem } from '#adapters/wire/pem.ts';
import { readPrivateKey } from '#adapters/wire/private-key.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import { definePlugin } from '../kit/contract.ts';

const adapter = () => import('#adapters/outbound/remote-cmp/remote-cmp.ts');
const path = Type.Optional(Type.String({ minLength: 1, pathname: true }));
const flag = Type.Optional(Type.Boolean());
const text = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }));
const whole = (minimum: number, maximum: number) => Type.Optional(Type.Integer({ minimum, maximum }));
const oneOf = <const T extends readonly string[]>(...values: T) =>
  Type.Optional(Type.Union(values.map((value) => Type.Literal(value as T[number]))));

const config = Type.Object({
  url: Type.String({
    title: 'an address like https://ca.example or http://ca.example:829/pkix',
    pattern: '^https?://[^?#@]+$',
    maxLength: 1000,
  }),
  /** Appended to the URL. Default: `/.well-known/cmp` if the URL has no path. */
  path: text(500),
  /** The name of the shared secret at the upstream CA. */
  reference: text(255),
  secret: text(1000),
  mac: oneOf('password-based-mac', 'pbmac1'),
  mac_iterations: whole(100, 1_000_000),
  /** Instead of a secret: a certificate with its chain, and its key. */
  client_certificate: path,
  client_key: path,
  /** Instead of a key file: a key store, and the id or label of the key in it. */
  client_key_store: text(64),
  client_key_id: text(255),
  client_key_password: Type.Optional(Type.String({ maxLength: 1000 })),
  /** Whether Postern renews the certificate. Default: true. */
  client_renewal: flag,
  trust: Type.Optional(
    Type.Object({
      file: path,
      fingerprint: Type.Optional(
        Type.String({ title: 'a SHA-256 in hexadecimal', pattern: '^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$' }),
      ),
      server_certificate: path,
      server_name: text(1000),
    }),
  ),
  tls_trust_file: path,
  /** The CA certificates of an upstream that does not provide them. */
  ca_certificates: path,
  profile: text(255),
  recipient: text(1000),
  /** How requests are forwarded: in messages of Postern's own, or with the device's signed message nested inside. */
  forward: oneOf('request', 'nested', 'nested-only'),
  ra_verified: flag,
  implicit_confirm: flag,
  enrol_with: oneOf('ir', 'cr'),
  renew_with: oneOf('cr', 'kur'),
  extra_certs: oneOf('chain', 'certificate', 'none'),
  pvno: whole(2, 3),
  /** Whether messages contain messageTime. Default: true. */
  message_time: flag,
  accept: Type.Optional(
    Type.Object({
      unprotected_errors: flag,
      unprotected_confirmations: flag,
      any_sender_kid: flag,
      any_certificate_order: flag,
      any_signer: flag,
      any_content_type: flag,
    }),
  ),
  timeout_seconds: whole(1, 120),
  poll_least_seconds: whole(1, 3600),
  poll_most_seconds: whole(1, 3600),
});

type Config = Static<typeof config>;
type KeyStores = ReadonlyMap<string, KeyStore> | undefined;

export const remoteCmp = definePlugin({
  slot: 'issuers',
  name: 'remote-cmp',
  summary: 'Requests certificates from an upstream CA over CMP.',
  config,
  async open(config, { name, dataDirectory, vault, clock, entropy, log, keyStores }) {
    const { trust = {}, accept = {} } = config;
    const max = config.poll_most_seconds ?? 3600;
    const min = config.poll_least_seconds ?? Math.min(2, max);
    if (min > max) throw new Error('poll_least_seconds must not be greater than poll_most_seconds');
    const identity = await identityOf(config, keyStores);
    const trusted = await trustOf(config);
    const server = trust.server_certificate ? (await certificates(trust.server_certificate))[0] : undefined;
    if (identity.kind !== 'mac' && trusted.kind === 'none' && !server)
      throw new Error(
        'trust needs a file, a fingerprint or a certificate: without it no response can be verified',
      );
    if (trust.server_name !== undefined && trusted.kind === 'none')
      throw new Error('trust.server_name needs trust.file or trust.fingerprint');
    // RFC 9483 §5.2.2.1
    if ((config.forward ?? 'request') !== 'request' && identity.kind === 'mac')
      throw new Error('forward needs a client_certificate: nested messages are signed');
    const tls = config.tls_trust_file && (await certificates(config.tls_trust_file));
    const { distinguishedName, openRemoteCmp } = await adapter();
    return openRemoteCmp({
      name,
      url: urlOf(config),
      tls: { anchors: tls ? tls.map((der) => encodePem('CERTIFICATE', der)) : 'system' },
      pvno: config.pvno === 3 ? 3 : 2,
      recipient: distinguishedName(config.recipient ?? ''),
      extraCerts: config.extra_certs ?? 'chain',
      profile: config.profile,
      messageTime: config.message_time !== false,
      contentType: accept.any_content_type !== true,
      identity,
      trust: trusted,
      server,
      serverName: trust.server_name === undefined ? undefined : distinguishedName(trust.server_name),
      caCertificates: config.ca_certificates ? await certificates(config.ca_certificates) : undefined,
      forwarding: {
        forward: config.forward ?? 'request',
        raVerified: config.ra_verified === true,
        enrolWith: config.enrol_with ?? 'cr',
        renewWith: config.renew_with ?? 'cr',
      },
      implicitConfirm: config.implicit_confirm === true,
      tolerances: {
        unprotectedErrors: accept.unprotected_errors === true,
        unprotectedConfirmations: accept.unprotected_confirmations === true,
        anySenderKid: accept.any_sender_kid === true,
        anyCertificateOrder: accept.any_certificate_order === true,
        anySigner: accept.any_signer === true,
      },
      timeout: (config.timeout_seconds ?? 20) * 1000,
      waiting: { least: min, most: max },
      file: join(dataDirectory, 'issuers', `${name}.credential`),
      vault,
      clock,
      entropy,
      log,
    });
  },
});

const certificates = async (file: string): Promise<readonly Uint8Array[]> =>
  readCertificateFile(new Uint8Array(await readFile(file)), '');

/** Returns the URL of the upstream, by default with the well-known path (RFC 9811 §3.3). Some servers need a trailing slash. */
function urlOf({ url, path }: Config): string {
  const { origin, pathname } = new URL(url);
  if (path !== undefined) return `${origin}${pathname.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`;
  return `${origin}${pathname === '/' ? '/.well-known/cmp' : pathname}`;
}

async function trustOf({ trust }: Config): Promise<Trust> {
  const { file, fingerprint } = trust ?? {};
  if (file !== undefined && fingerprint !== undefined)
    throw new Error('trust must have either a file or a fingerprint, not both');
  if (fingerprint !== undefined)
    return { kind: 'fingerprint', sha256: fingerprint.replaceAll(':', '').toUpperCase() };
  return file === undefined ? { kind: 'none' } : { kind: 'anchors', certificates: await certificates(file) };
}

async function identityOf(config: Config, keyStores: KeyStores): Promise<Identity> {
  const { reference, secret, client_certificate: certificate } = config;
  if ((reference === undefined) !== (secret === undefined))
    throw new Error('reference and secret must be set together');
  if (reference !== undefined && secret !== undefined) {
    if (certificate !== undefined || config.client_key !== undefined)
      throw new Error('set either secret or client_certificate, not both');
    const bytes = new TextEncoder().encode(secret);
    return { kind: 'mac', reference, secret: bytes, parameters: macParameters(config) };
  }
  if (certificate === undefined)
    throw new Error('set reference and secret, or client_certificate and client_key');
  return certificateIdentity(config, certificate, keyStores);
}

async function certificateIdentity(
  config: Config,
  certificate: string,
  keyStores: KeyStores,
): Promise<Identity> {
  const { client_key: key, client_key_store: store, client_key_id: id } = config;
  const { client_key_password: password = '', client_renewal: renew = true } = config;
  const own = await readCertificateFile(new Uint8Array(await readFile(certificate)), password);
  if (store !== undefined || id !== undefined) {
    const keys = store === undefined ? undefined : keyStores?.get(store);
    if (id === undefined || key !== undefined)
      throw new Error('set client_key_store and client_key_id together, and not client_key');
    if (!keys || !own[0]) throw new Error('client_key_store must name a configured key store');
    const { signingIn } = await import('#adapters/outbound/remote-cmp/signing-key.ts');
    return { kind: 'held', certificates: own, sign: signingIn(keys, id, own[0]) };
  }
  if (key === undefined) throw new Error('client_certificate needs client_key, or client_key_store');
  const pkcs8 = await readPrivateKey(new Uint8Array(await readFile(key)), password);
  return { kind: 'credential', credential: { certificates: own, key: pkcs8 }, renew };
}

/** Returns the MAC parameters (RFC 9481 §6.1). Every message has a new salt. */
function macParameters({ mac, mac_iterations: configured }: Config): MacParameters {
  const salt = new Uint8Array(16);
  if (mac === 'pbmac1') {
    const iterations = configured ?? 10_000;
    return { kind: 'pbmac1', salt, iterations, keyLength: 32, prf: 'sha256', mac: 'sha256' };
  }
  const iterations = configured ?? 1000;
  if (iterations > 100_000)
    throw new Error('mac_iterations must not be greater than 100000 for password-based-mac');
  return { kind: 'passwordBasedMac', salt, owf: 'sha256', iterations, mac: 'sha256' };
}
