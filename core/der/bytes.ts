/** Compares public values. Not for secrets: the time it takes depends on where they differ. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Returns upper-case hexadecimal, two digits per octet. */
export const hex = (bytes: Uint8Array): string => bytes.toHex().toUpperCase();

/** Decodes hexadecimal digits of either case; returns undefined for any other text. */
export function fromHex(text: string): Uint8Array | undefined {
  return /^(?:[0-9a-f]{2})*$/i.test(text) ? Uint8Array.from(Buffer.from(text, 'hex')) : undefined;
}

/**
 * Returns `decode` with a cache for the last value. For values that rarely change from one certificate to the next: the
 * issuer's name, the key usage of a profile, the addresses of a CA. Callers share the result and must not modify it.
 */
export function cachingLast<T>(decode: (value: Uint8Array) => T): (value: Uint8Array) => T {
  let last: { readonly value: Uint8Array; readonly decoded: T } | undefined;
  return (value) => {
    if (last && sameBytes(last.value, value)) return last.decoded;
    // The result contains views of the value, so decode a copy: the value itself may be part of a network buffer.
    const own = new Uint8Array(value);
    last = { value: own, decoded: decode(own) };
    return last.decoded;
  };
}
