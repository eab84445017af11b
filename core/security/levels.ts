import type { KeyType, SignatureAlgorithm } from '../x509/algorithm.ts';

/** From the most lenient to the strictest. */
export const securityLevels = ['lab', 'brownfield', 'industrial', 'hardened', 'critical'] as const;
export type SecurityLevel = (typeof securityLevels)[number];

/** The holders that security levels distinguish. */
export type Holder = 'endEntity' | 'ca';

type OtherKey = Exclude<KeyType, `rsa-${number}`>;

interface KeyDemands {
  readonly minimumRsaBits: number;
  /** Allowed key types besides RSA. */
  readonly kinds: readonly OtherKey[];
}

/**
 * The requirements of a security level for the whole service, on top of what every level rejects: SHA-1, MD5, RSA keys
 * below 2048 bits.
 */
export interface LevelRules {
  readonly level: SecurityLevel;
  readonly summary: string;
  readonly keys: Readonly<Record<Holder, KeyDemands>>;
  /** The longest validity period, in years; null for no limit. */
  readonly years: Readonly<Record<Holder, number | null>>;
  /**
   * Whether certificates may have no well-defined expiry, 99991231235959Z (RFC 5280 §4.1.2.5), as IEEE 802.1AR §8
   * recommends for IDevIDs. They still expire with their CA.
   */
  readonly endless: boolean;
  /** Signature algorithms that no certificate may use. */
  readonly bannedSignatures: readonly SignatureAlgorithm[];
  /** The protocols in which devices may authenticate with a shared secret. `tls`: only inside TLS. */
  readonly sharedSecrets: {
    readonly est: boolean;
    readonly rest: boolean;
    readonly cmp: 'everywhere' | 'tls' | 'never';
  };
  /** The oldest TLS version that the listener accepts. */
  readonly minimumTls: 'TLSv1.2' | 'TLSv1.3';
}

const everyKind = ['p-256', 'p-384', 'p-521', 'ed25519', 'ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87'] as const;

/**
 * The default level of an installation: it accepts everything that was accepted before levels existed. The table below
 * is the only place that states the requirements of each level.
 */
export const usualLevel: SecurityLevel = 'brownfield';

export const levels = {
  lab: {
    level: 'lab',
    summary: 'for tests and demonstrations: only the limits that every level has',
    keys: {
      endEntity: { minimumRsaBits: 2048, kinds: everyKind },
      ca: { minimumRsaBits: 2048, kinds: everyKind },
    },
    years: { endEntity: null, ca: null },
    endless: true,
    bannedSignatures: [],
    sharedSecrets: { est: true, rest: true, cmp: 'everywhere' },
    minimumTls: 'TLSv1.2',
  },
  brownfield: {
    level: 'brownfield',
    summary: 'for existing plants: long-lived certificates, every protocol',
    keys: {
      endEntity: { minimumRsaBits: 2048, kinds: everyKind },
      ca: { minimumRsaBits: 2048, kinds: everyKind },
    },
    years: { endEntity: 50, ca: 100 },
    endless: true,
    bannedSignatures: [],
    sharedSecrets: { est: true, rest: true, cmp: 'everywhere' },
    minimumTls: 'TLSv1.2',
  },
  industrial: {
    level: 'industrial',
    summary: 'for new plants: CA keys for decades, certificates that are renewed',
    keys: {
      endEntity: { minimumRsaBits: 2048, kinds: everyKind },
      ca: { minimumRsaBits: 3072, kinds: everyKind },
    },
    years: { endEntity: 10, ca: 30 },
    endless: true,
    bannedSignatures: [],
    sharedSecrets: { est: true, rest: true, cmp: 'everywhere' },
    minimumTls: 'TLSv1.2',
  },
  hardened: {
    level: 'hardened',
    summary:
      'for plants under attack: at least 128 bits of security, TLS 1.3, shared secrets only inside TLS and not over REST',
    keys: {
      endEntity: { minimumRsaBits: 3072, kinds: everyKind },
      ca: { minimumRsaBits: 3072, kinds: everyKind },
    },
    years: { endEntity: 5, ca: 20 },
    endless: false,
    bannedSignatures: [],
    // Scripts use REST, usually with the password stored beside them.
    sharedSecrets: { est: true, rest: false, cmp: 'tls' },
    minimumTls: 'TLSv1.3',
  },
  critical: {
    level: 'critical',
    summary:
      'for critical infrastructure: CAs with 192 bits of security, devices authenticate with certificates only',
    keys: {
      // P-256 is what the secure elements of devices support.
      endEntity: { minimumRsaBits: 3072, kinds: everyKind },
      // RSA up to 4096 bits signs with SHA-256, which is banned below.
      ca: { minimumRsaBits: 4097, kinds: ['p-384', 'p-521', 'ml-dsa-65', 'ml-dsa-87'] },
    },
    years: { endEntity: 2, ca: 20 },
    endless: false,
    bannedSignatures: ['rsa-pkcs1-sha256', 'rsa-pss-sha256', 'ecdsa-sha256', 'ed25519', 'ml-dsa-44'],
    sharedSecrets: { est: false, rest: false, cmp: 'never' },
    minimumTls: 'TLSv1.3',
  },
} as const satisfies { readonly [L in SecurityLevel]: LevelRules & { readonly level: L } };

/**
 * Returns the rules of a level by its name. For the name of a level that only a newer version knows, returns those of
 * the strictest level.
 */
export const levelNamed = (name: string): LevelRules =>
  Object.hasOwn(levels, name) ? levels[name as SecurityLevel] : levels.critical;

export const isStricter = (one: SecurityLevel, other: SecurityLevel): boolean =>
  securityLevels.indexOf(one) > securityLevels.indexOf(other);
