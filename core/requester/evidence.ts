/** The protocols by which a certificate can be asked for. */
export type Protocol = 'rest' | 'est' | 'cmp';

/** Where a request is addressed: names as they stood in the path, undefined where the path had none. */
export interface Target {
  readonly protocol: Protocol;
  readonly domain: string | undefined;
  readonly profile: string | undefined;
}

/** What a requester brings to show who it is. `address` is where it came from, for audit and limits. */
export type Evidence =
  | { readonly kind: 'none'; readonly address: string }
  | {
      readonly kind: 'password';
      readonly username: string;
      readonly password: string;
      readonly address: string;
    }
  /** Possession of the leaf's key is proven (TLS); trust is not decided. DER, leaf first. */
  | { readonly kind: 'certificate'; readonly certificates: readonly Uint8Array[]; readonly address: string }
  /** A message bears a signature that the first certificate's key has made; trust is not decided. DER. */
  | { readonly kind: 'signature'; readonly certificates: readonly Uint8Array[]; readonly address: string }
  /**
   * A message bears a MAC. `reference`: a device's common name or id. `verify` is called in every case, for an
   * unknown reference with a secret that nobody has, so that its time tells nothing.
   */
  | {
      readonly kind: 'mac';
      readonly reference: string;
      readonly verify: (secret: Uint8Array) => boolean | Promise<boolean>;
      /** It came inside TLS. */
      readonly secure: boolean;
      readonly address: string;
    };
