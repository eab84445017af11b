import type { LevelRules } from '../security/levels.ts';

/** The enrolment protocols. */
export type Protocol = 'rest' | 'est' | 'cmp';

/** The target of a request: the names in its path, undefined where the path has none. */
export interface Target {
  readonly protocol: Protocol;
  readonly domain: string | undefined;
  readonly profile: string | undefined;
}

/** The proof of a requester's identity. `address` is its network address, for audit and rate limits. */
export type Evidence =
  | { readonly kind: 'none'; readonly address: string }
  | {
      readonly kind: 'password';
      readonly username: string;
      readonly password: string;
      readonly address: string;
    }
  /** TLS has proved possession of the leaf's key; trust is not checked yet. DER, leaf first. */
  | { readonly kind: 'certificate'; readonly certificates: readonly Uint8Array[]; readonly address: string }
  /** The first certificate's key has signed the message; trust is not checked yet. DER. */
  | { readonly kind: 'signature'; readonly certificates: readonly Uint8Array[]; readonly address: string }
  /**
   * A message with a MAC. `reference`: a device's common name or id. `verify` is always called, for an unknown reference with a
   * random secret, so that the response time reveals nothing.
   */
  | {
      readonly kind: 'mac';
      readonly reference: string;
      readonly verify: (secret: Uint8Array) => boolean | Promise<boolean>;
      /** The message came inside TLS. */
      readonly secure: boolean;
      readonly address: string;
    };

/** Returns why the security level does not allow evidence of this kind over a protocol; undefined when it does. */
export function evidenceShortcoming(
  { level, sharedSecrets }: LevelRules,
  protocol: Protocol,
  evidence: Evidence,
): string | undefined {
  if (evidence.kind === 'mac') {
    const { cmp } = sharedSecrets;
    if (cmp === 'everywhere' || (cmp === 'tls' && evidence.secure)) return undefined;
    const where = cmp === 'tls' ? ' outside TLS' : '';
    return `the security level ${level} does not allow shared secrets${where}: sign the message instead`;
  }
  if (evidence.kind !== 'password' || protocol === 'cmp' || sharedSecrets[protocol]) return undefined;
  return `the security level ${level} does not allow passwords over ${protocol.toUpperCase()}: use a client certificate`;
}
