/** Identifier octets (X.690 §8.1.2). Tag numbers of 31 and above are not used by any structure read here. */
export const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  enumerated: 0x0a,
  utf8String: 0x0c,
  numericString: 0x12,
  sequence: 0x30,
  set: 0x31,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  visibleString: 0x1a,
  universalString: 0x1c,
  bmpString: 0x1e,
} as const;

/** `[n]` with primitive contents: IMPLICIT over a primitive type. */
export const context = (n: number): number => 0x80 | n;

/** `[n]` with constructed contents: EXPLICIT, or IMPLICIT over a SEQUENCE or SET. */
export const contextConstructed = (n: number): number => 0xa0 | n;
