/** The constants of PKCS #11 v2.40, and of v3.0 for EdDSA, that this adapter uses. */

export const ckr = {
  hostMemory: 0x2,
  slotIdInvalid: 0x3,
  generalError: 0x5,
  functionFailed: 0x6,
  cantLock: 0xa,
  attributeValueInvalid: 0x13,
  deviceError: 0x30,
  deviceMemory: 0x31,
  deviceRemoved: 0x32,
  functionNotSupported: 0x54,
  keyHandleInvalid: 0x60,
  keySizeRange: 0x62,
  mechanismInvalid: 0x70,
  mechanismParamInvalid: 0x71,
  objectHandleInvalid: 0x82,
  pinIncorrect: 0xa0,
  pinInvalid: 0xa1,
  pinLenRange: 0xa2,
  pinExpired: 0xa3,
  pinLocked: 0xa4,
  sessionClosed: 0xb0,
  sessionHandleInvalid: 0xb3,
  tokenNotPresent: 0xe0,
  tokenNotRecognized: 0xe1,
  userAlreadyLoggedIn: 0x100,
  userNotLoggedIn: 0x101,
  userPinNotInitialized: 0x102,
  curveNotSupported: 0x140,
  cryptokiNotInitialized: 0x190,
} as const;

export const ckm = {
  rsaKeyPairGen: 0x0,
  rsaPkcs: 0x1,
  rsaPss: 0xd,
  sha256: 0x250,
  sha384: 0x260,
  sha512: 0x270,
  ecKeyPairGen: 0x1040,
  ecdsa: 0x1041,
  edwardsKeyPairGen: 0x1055,
  eddsa: 0x1057,
} as const;

/** Mask generation functions. */
export const ckg = { mgf1Sha256: 0x2, mgf1Sha384: 0x3, mgf1Sha512: 0x4 } as const;

/** Attributes. */
export const cka = {
  class: 0x0,
  token: 0x1,
  private: 0x2,
  label: 0x3,
  keyType: 0x100,
  id: 0x102,
  sensitive: 0x103,
  decrypt: 0x105,
  unwrap: 0x107,
  sign: 0x108,
  verify: 0x10a,
  derive: 0x10c,
  modulus: 0x120,
  modulusBits: 0x121,
  publicExponent: 0x122,
  extractable: 0x162,
  ecParams: 0x180,
  ecPoint: 0x181,
} as const;

export const cko = { publicKey: 0x2, privateKey: 0x3 } as const;

/** Key types. */
export const ckk = { rsa: 0x0, ec: 0x3, edwards: 0x40 } as const;

/** Flags: of sessions, of C_Initialize, of tokens. */
export const ckf = {
  readWriteSession: 0x2,
  serialSession: 0x4,
  osLockingOk: 0x2,
  loginRequired: 0x4,
  userPinCountLow: 0x10000,
  userPinFinalTry: 0x20000,
  userPinLocked: 0x40000,
} as const;

/** CKU_USER. */
export const normalUser = 1;
