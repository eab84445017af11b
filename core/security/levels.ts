import type { KeyType, SignatureAlgorithm } from '../x509/algorithm.ts';

/** From the most lenient to the strictest. */
export const securityLevels = ['lab', 'brownfield', 'industrial', 'hardened', 'critical'] as const;
export type SecurityLevel = (typeof securityLevels)[number];

/** Whom a certificate is for, as far as the levels tell them apart. */
export type Holder = 'endEntity' | 'ca';

type OtherKey = Exclude<KeyType, `rsa-${number}`>;

interface KeyDemands {
  readonly minimumRsaBits: number;
  /** Kinds of keys beside RSA. */
  readonly kinds: readonly OtherKey[];
}

/** What a security level demands of the whole service, on top of what is refused at every one: SHA-1, MD5, RSA below 2048 bits. */
export interface LevelRules {
  readonly level: SecurityLevel;
  readonly summary: string;
  readonly keys: Readonly<Record<Holder, KeyDemands>>;
  /** The longest validity, in years; null for no limit. */
  readonly years: Readonly<Record<Holder, number | null>>;
  /**
   * Whether certificates may have no end, 99991231235959Z (RFC 5280 §4.1.2.5), as IEEE 802.1AR §8 wants it of IDevIDs. They end with
   * their CA at the latest.
   */
  readonly endless: boolean;
  /** By which no certificate may be signed. */
  readonly bannedSignatures: readonly SignatureAlgorithm[];
  /** Where devices may show by a shared secret who they are. `tls`: only inside TLS. */
  readonly sharedSecrets: {
    readonly est: boolean;
    readonly rest: boolean;
    readonly cmp: 'everywhere' | 'tls' | 'never';
  };
  /** What the listener speaks at least. */
  readonly minimumTls: 'TLSv1.2' | 'TLSv1.3';
}

const everyKind = ['p-256', 'p-384', 'p-521', 'ed25519', 'ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87'] as const;

/**
 * What an installation is at unless it says otherwise: whatever was in order before there were levels goes on. The one table of
 * what each level demands is this.
 */
export const usualLevel: SecurityLevel = 'brownfield';

export const levels = {
  lab: {
    level: 'lab',
    summary: 'for trying things out: only what is refused everywhere',
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
    summary: 'for plants with what they have: long-lived certificates, every protocol',
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
    summary: 'for new plants: CA keys that hold for decades, certificates that are renewed',
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
      'for plants under attack: 128 bits of security throughout, TLS 1.3, no secret outside TLS or in a script',
    keys: {
      endEntity: { minimumRsaBits: 3072, kinds: everyKind },
      ca: { minimumRsaBits: 3072, kinds: everyKind },
    },
    years: { endEntity: 5, ca: 20 },
    endless: false,
    bannedSignatures: [],
    // REST is what scripts speak, with the password beside them.
    sharedSecrets: { est: true, rest: false, cmp: 'tls' },
    minimumTls: 'TLSv1.3',
  },
  critical: {
    level: 'critical',
    summary:
      'for critical infrastructure: CAs of 192 bits of security, devices show certificates and nothing else',
    keys: {
      // P-256 is what the secure elements of devices have.
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

/** The rules of a level by its name. Of one that only a newer version knows: the strictest. */
export const levelNamed = (name: string): LevelRules =>
  Object.hasOwn(levels, name) ? levels[name as SecurityLevel] : levels.critical;

export const isStricter = (one: SecurityLevel, other: SecurityLevel): boolean =>
  securityLevels.indexOf(one) > securityLevels.indexOf(other);
