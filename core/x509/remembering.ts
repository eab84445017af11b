import { sameBytes } from '../der/bytes.ts';

/**
 * `decode` with a memory for one value. For what hardly varies from certificate to certificate: the issuer's name, the key
 * usage of a profile, the addresses of a CA. Whoever asks shares the result, so it must not be changed.
 */
export function remembering<T>(decode: (value: Uint8Array) => T): (value: Uint8Array) => T {
  let last: { readonly value: Uint8Array; readonly decoded: T } | undefined;
  return (value) => {
    if (last && sameBytes(last.value, value)) return last.decoded;
    // A copy, and what is decoded shows views of it: the octets that came may be a network buffer's.
    const own = new Uint8Array(value);
    last = { value: own, decoded: decode(own) };
    return last.decoded;
  };
}
