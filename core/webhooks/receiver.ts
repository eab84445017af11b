import type { Entropy, Vault } from '../ports/platform.ts';
import type { Webhook } from '../records/webhook.ts';

const contextOf = (handle: string): string => `webhook secret ${handle}`;
export const webhookSecretContext = ({ handle }: Pick<Webhook, 'handle'>): string => contextOf(handle);

export interface NewSecret {
  /** The secret in the form that receivers' libraries expect (Standard Webhooks 1.0.0). It is shown only once. */
  readonly shown: string;
  readonly sealed: Uint8Array;
}

/** Generates a secret of 256 random bits. */
export function newSigningSecret(entropy: Entropy, vault: Vault, handle: string): NewSecret {
  const secret = entropy.bytes(32);
  return {
    shown: `whsec_${Buffer.from(secret).toString('base64')}`,
    sealed: vault.seal(secret, contextOf(handle)),
  };
}

export const newHandle = (entropy: Entropy): string => Buffer.from(entropy.bytes(16)).toString('hex');

/** Opens the secret. Faults: internal if it belongs to another webhook, or was sealed under another master key. */
export const openSecret = (vault: Vault, { secret, handle }: Webhook): Uint8Array =>
  vault.open(secret, contextOf(handle));

/** Accepts a host name or an IP address (IPv6 without brackets), or `*.` and a name. */
export const isHostPattern = (text: string): boolean =>
  text.length <= 253 &&
  /^(?:(?:\*\.)?[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]+)$/.test(text);

/**
 * Returns whether `hosts` contains the host of a URL: a name, an address, or `*.` and a name for all names below it. An
 * empty list permits all hosts.
 */
export function isAllowedHost(hosts: readonly string[], url: string): boolean {
  if (hosts.length === 0) return true;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return hosts.some((allowed) => {
    const name = allowed.toLowerCase();
    return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name;
  });
}
