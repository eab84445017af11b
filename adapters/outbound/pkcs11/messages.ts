/** What the process that holds the PKCS #11 module is asked, and what it answers. */

export interface Place {
  readonly library: string;
  /** What NSS modules want to be initialised with. */
  readonly parameters?: string;
  /** CKA_LABEL of the token. Without this and `slot`: the only one there is. */
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

/** A key pair, with the public key as the token has it. */
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
      /** Within an OCTET STRING or, from some tokens, as it is. */
      readonly point: Uint8Array;
    };

/** How a token is to sign. */
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
  /** Whether the token is there and the login holds. */
  check: { arguments: null; result: null };
}

export type Operation = keyof Operations;

/** What went wrong, for people and for what is to be done about it. */
export interface Failure {
  readonly kind:
    | 'driver' // pkcs11js is not there
    | 'library' // the module cannot be loaded or initialised
    | 'absent' // the token is not present, or which one is meant is not clear
    | 'notFound'
    | 'several' // more than one key answers to the name
    | 'vanished' // a key that was there is not any more
    | 'cryptoki' // the module said so
    | 'pin' // the PIN is not tried, as things are
    | 'late' // no answer in time
    | 'busy' // everything before it took too long
    | 'ended'; // the process that holds the module is gone
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
