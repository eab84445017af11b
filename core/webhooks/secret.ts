import type { Entropy } from '../ports/platform.ts';
import type { Vault } from '../ports/vault.ts';
import type { Webhook } from '../records/webhook.ts';

const contextOf = (handle: string): string => `webhook secret ${handle}`;
export const webhookSecretContext = ({ handle }: Pick<Webhook, 'handle'>): string => contextOf(handle);

export interface NewSecret {
  /** As receivers' libraries take it (Standard Webhooks 1.0.0): shown once. */
  readonly shown: string;
  readonly sealed: Uint8Array;
}

/** 256 random bits. */
export function newSigningSecret(entropy: Entropy, vault: Vault, handle: string): NewSecret {
  const secret = entropy.bytes(32);
  return {
    shown: `whsec_${Buffer.from(secret).toString('base64')}`,
    sealed: vault.seal(secret, contextOf(handle)),
  };
}

export const newHandle = (entropy: Entropy): string => Buffer.from(entropy.bytes(16)).toString('hex');

/** Faults: internal when it is the secret of another webhook, or was sealed elsewhere. */
export const openSecret = (vault: Vault, { secret, handle }: Webhook): Uint8Array =>
  vault.open(secret, contextOf(handle));
