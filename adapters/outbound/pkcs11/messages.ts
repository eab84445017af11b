/** The requests to the process with the PKCS #11 module, and its responses. */

export interface Place {
  readonly library: string;
  /** Initialisation parameters of NSS modules. */
  readonly parameters?: string;
  /** The label of the token. Without label and `slot`: the only token present. */
  readonly token?: string;
  /** CK_SLOT_ID. */
  readonly slot?: number;
}

export interface TokenFacts {
  readonly label: string;
  readonly serial: string;
  /** CKF_… */
  readonly flags: number;
  /** CKM_… → the smallest and the largest key, in bits. */
  readonly mechanisms: Readonly<Record<number, readonly [least: number, most: number]>>;
}

export type KeyTemplate =
  | { readonly kind: 'rsa'; readonly bits: number }
  /** `parameters`: the curve's OID, DER. */
  | { readonly kind: 'ec' | 'edwards'; readonly parameters: Uint8Array };

/** A key pair, with the public key in the format of the token. */
export type TokenKey =
  | {
      readonly id: string;
      readonly kind: 'rsa';
      readonly modulus: Uint8Array;
      readonly exponent: Uint8Array;
    }
  | {
      readonly id: string;
      readonly kind: 'ec' | 'edwards';
      readonly parameters: Uint8Array;
      /** In an OCTET STRING or, from some tokens, without it. */
      readonly point: Uint8Array;
    };

/** The signature mechanism and its parameters. */
export interface Scheme {
  readonly mechanism: number;
  readonly pss?: { readonly hashAlg: number; readonly mgf: number; readonly saltLen: number };
}

/** `id` is CKA_ID in hexadecimal. */
export interface Operations {
  open: { arguments: Place; result: TokenFacts };
  login: { arguments: { readonly pin: string }; result: null };
  generate: { arguments: { readonly template: KeyTemplate; readonly label: string }; result: TokenKey };
  find: { arguments: { readonly id: string } | { readonly label: string }; result: TokenKey };
  sign: { arguments: Scheme & { readonly id: string; readonly data: Uint8Array }; result: Uint8Array };
  remove: { arguments: { readonly id: string }; result: null };
  /** Checks that the token is present and the login valid. */
  check: { arguments: null; result: null };
}

export type Operation = keyof Operations;

/** The reason of a failure, as text and as a code. */
export interface Failure {
  readonly kind:
    | 'driver' // pkcs11js is not installed
    | 'library' // the module cannot be loaded or initialised
    | 'absent' // the token is not present, or several match
    | 'notFound'
    | 'several' // several keys have the same name
    | 'vanished' // a known key no longer exists
    | 'cryptoki' // an error code of the module
    | 'pin' // the PIN is wrong, or was not tried
    | 'late' // no response in time
    | 'busy' // the operation waited too long for its turn
    | 'ended'; // the process with the module has ended
  readonly detail: string;
  /** CKR_… */
  readonly code?: number;
}

export interface Question {
  readonly number: number;
  readonly operation: Operation;
  readonly arguments: unknown;
}

export type Answer =
  | { readonly number: number; readonly result: unknown }
  | { readonly number: number; readonly failure: Failure };
