/** Equality of public values; not for secrets, as its time tells where they differ. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Upper-case, two digits an octet. */
export const hex = (bytes: Uint8Array): string => bytes.toHex().toUpperCase();

/** Octets of hexadecimal digits in either case, or undefined when the text is anything else. */
export function fromHex(text: string): Uint8Array | undefined {
  return /^(?:[0-9a-f]{2})*$/i.test(text) ? Uint8Array.from(Buffer.from(text, 'hex')) : undefined;
}

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
