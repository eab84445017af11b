import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Static } from '@sinclair/typebox';
import type { Identity, Trust } from '#adapters/outbound/remote-cmp/remote-cmp.ts';
import { readCertificateFile } from '#adapters/wire/certificate-file.ts';
import type { MacParameters } from '#adapters/wire/cmp/mac.ts';
import { encodePem } from '#adapters/wire/pem.ts';
import { readPrivateKey } from '#adapters/wire/private-key.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import { definePlugin } from '../kit/contract.ts';
import { remoteCmpConfig } from './remote-cmp-config.ts';

const adapter = () => import('#adapters/outbound/remote-cmp/remote-cmp.ts');
type Config = Static<typeof remoteCmpConfig>;
type KeyStores = ReadonlyMap<string, KeyStore> | undefined;

export const remoteCmp = definePlugin({
  slot: 'issuers',
  name: 'remote-cmp',
  summary: 'Requests certificates from an upstream CA over CMP.',
  config: remoteCmpConfig,
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
