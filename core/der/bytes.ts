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
