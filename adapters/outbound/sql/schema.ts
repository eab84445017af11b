import type { Kind, Records } from '#core/ports/store.ts';
import type { Actor } from '#core/records/audit-event.ts';

/**
 * The storage type of a field. `integer`: 64 bits. `bytesList`, `json` and `actor` are JSON text on both databases: DER
 * in base64, and an actor as an array of its members, so that a search matches values and not member names.
 */
export type ColumnType = 'integer' | 'text' | 'boolean' | 'bytes' | 'bytesList' | 'json' | 'actor';

export interface Column {
  readonly type: ColumnType;
  readonly nullable: boolean;
  /** The kind to whose id this foreign key refers. */
  readonly references?: Kind;
  /** Whether the record is deleted with the one it refers to. Otherwise it prevents that deletion. */
  readonly cascade?: true;
  /** The value of most records. The index of the field omits them, because it would be useless for so many. */
  readonly usual?: string;
  /**
   * The number of characters by which lists and the index order a long text: PostgreSQL rejects index entries of more
   * than 2704 octets.
   */
  readonly orderedBy?: number;
}

export interface Table {
  readonly name: string;
  readonly fields: Readonly<Record<string, Column>>;
  /** Combinations of fields that no two records share; a conflict names the first. */
  readonly unique: readonly (readonly string[])[];
  readonly searchable: readonly string[];
  /** Whether the table may have millions of rows. */
  readonly large?: true;
  /**
   * The fields, besides `id`, by which an account may order a list of a large table of any length. Each has an index.
   * The common name of certificates is not among them, because its index would make issuance 5 % slower.
   */
  readonly orders?: readonly string[];
}

type TypeOf<T> = [T] extends [boolean]
  ? 'boolean'
  : [T] extends [number]
    ? 'integer'
    : [T] extends [string]
      ? 'text'
      : [T] extends [Uint8Array]
        ? 'bytes'
        : [T] extends [readonly Uint8Array[]]
          ? 'bytesList'
          : [T] extends [Actor]
            ? 'actor'
            : 'json';

/** The column that a field of type `T` must have. */
interface ColumnOf<T> extends Column {
  readonly type: TypeOf<Exclude<T, null>>;
  readonly nullable: unknown extends T ? false : null extends T ? true : false;
}

/** A field of a record without a column, or a column without a field, does not compile. */
interface TableOf<K extends Kind> extends Table {
  readonly fields: { readonly [F in Exclude<keyof Records[K], 'id'>]: ColumnOf<Records[K][F]> };
  readonly unique: readonly (readonly (keyof Records[K] & string)[])[];
  readonly searchable: readonly (keyof Records[K] & string)[];
  readonly orders?: readonly (keyof Records[K] & string)[];
}

const integer = { type: 'integer', nullable: false } as const;
const text = { type: 'text', nullable: false } as const;
const boolean = { type: 'boolean', nullable: false } as const;
const bytes = { type: 'bytes', nullable: false } as const;
const bytesList = { type: 'bytesList', nullable: false } as const;
const json = { type: 'json', nullable: false } as const;
const actor = { type: 'actor', nullable: false } as const;
const orNull = <C extends Column>(column: C) => ({ ...column, nullable: true }) as const;
const to = <K extends Kind>(kind: K) => ({ ...integer, references: kind }) as const;
const ownedBy = <K extends Kind>(kind: K) => ({ ...to(kind), cascade: true }) as const;

const secrets = {
  protocols: json,
  estPassword: orNull(bytes),
  cmpSharedSecret: orNull(bytes),
  custodians: json,
};

const schema = {
  domain: {
    name: 'domains',
    fields: {
      createdAt: integer,
      uniqueName: text,
      issuingCa: orNull(to('issuingCa')),
      profiles: json,
    },
    unique: [['uniqueName']],
    searchable: ['uniqueName'],
  },
  profile: {
    name: 'profiles',
    fields: { createdAt: integer, uniqueName: text, profile: json },
    unique: [['uniqueName']],
    searchable: ['uniqueName'],
  },
  issuingCa: {
    name: 'issuing_cas',
    fields: {
      createdAt: integer,
      updatedAt: integer,
      uniqueName: text,
      commonName: text,
      type: integer,
      isActive: boolean,
      certificate: bytes,
      chain: bytesList,
      key: orNull(json),
      issuer: orNull(text),
      crlNumber: integer,
      lastCrlIssuedAt: orNull(integer),
      lastRevocationAt: orNull(integer),
    },
    unique: [['uniqueName']],
    searchable: ['uniqueName', 'commonName'],
  },
  crl: {
    name: 'crls',
    fields: {
      ca: ownedBy('issuingCa'),
      number: integer,
      thisUpdate: integer,
      nextUpdate: integer,
      crl: bytes,
      parts: orNull(text),
    },
    unique: [['ca']],
    searchable: [],
  },
  crlPart: {
    name: 'crl_parts',
    fields: {
      createdAt: integer,
      ca: ownedBy('issuingCa'),
      name: text,
      position: integer,
      octets: bytes,
    },
    unique: [['name', 'position']],
    searchable: [],
    large: true,
    orders: ['position'],
  },
  credential: {
    name: 'credentials',
    fields: {
      createdAt: integer,
      updatedAt: integer,
      uniqueName: text,
      type: integer,
      commonName: text,
      notValidAfter: integer,
      signatureSuite: text,
      certificate: bytes,
      chain: bytesList,
      key: json,
      isActive: boolean,
      issuingCa: orNull(ownedBy('issuingCa')),
    },
    unique: [['uniqueName']],
    searchable: ['uniqueName', 'commonName'],
  },
  certificate: {
    name: 'certificates',
    fields: {
      createdAt: integer,
      commonName: text,
      ca: to('issuingCa'),
      serialNumber: text,
      subject: text,
      notValidBefore: integer,
      notValidAfter: integer,
      fingerprint: text,
      der: bytes,
      status: { ...text, usual: 'good' },
      revokedAt: orNull(integer),
      revocationReason: orNull(text),
      invalidityDate: orNull(integer),
      device: orNull(to('device')),
      domain: orNull(to('domain')),
      profile: orNull(to('profile')),
      protocol: text,
      hidden: boolean,
    },
    unique: [['serialNumber', 'ca']],
    searchable: ['commonName', 'serialNumber', 'subject', 'fingerprint'],
    large: true,
    orders: ['createdAt', 'serialNumber', 'notValidBefore', 'notValidAfter'],
  },
  certificateKey: {
    name: 'certificate_keys',
    fields: { createdAt: integer, certificate: to('certificate'), key: json },
    unique: [['certificate']],
    searchable: [],
  },
  device: {
    name: 'devices',
    fields: {
      createdAt: integer,
      commonName: text,
      serialNumber: text,
      deviceType: integer,
      domain: orNull(to('domain')),
      onboardingConfig: orNull(to('onboardingConfig')),
      noOnboardingConfig: orNull(to('noOnboardingConfig')),
      blockedAt: orNull(integer),
      // Not a foreign key: kept after the import has been deleted.
      deviceImport: orNull(integer),
      custodians: json,
    },
    unique: [['commonName']],
    searchable: ['commonName', 'serialNumber'],
    large: true,
    orders: [
      'createdAt',
      'commonName',
      'serialNumber',
      'deviceType',
      'domain',
      'onboardingConfig',
      'noOnboardingConfig',
    ],
  },
  deviceImport: {
    name: 'device_imports',
    fields: {
      createdAt: integer,
      fileName: text,
      actor,
      state: text,
      total: integer,
      done: integer,
      created: integer,
      refused: integer,
      part: integer,
      finishedAt: orNull(integer),
      reason: orNull(text),
    },
    unique: [],
    searchable: ['fileName'],
  },
  deviceImportPart: {
    name: 'device_import_parts',
    fields: {
      deviceImport: ownedBy('deviceImport'),
      number: integer,
      rows: orNull(bytes),
      refusals: json,
    },
    unique: [['deviceImport', 'number']],
    searchable: [],
  },
  onboardingConfig: {
    name: 'onboarding_configs',
    fields: {
      createdAt: integer,
      ...secrets,
      onboardingStatus: integer,
      onboardingProtocol: orNull(text),
      idevidTruststore: orNull(to('truststore')),
      idevidKey: orNull(text),
      idevid: orNull(bytes),
      // Not a foreign key: kept after the certificate has been deleted.
      onboardedWith: orNull(integer),
    },
    unique: [['idevidKey']],
    searchable: [],
    large: true,
    orders: ['createdAt'],
  },
  noOnboardingConfig: {
    name: 'no_onboarding_configs',
    fields: { createdAt: integer, ...secrets },
    unique: [],
    searchable: [],
    large: true,
    orders: ['createdAt'],
  },
  truststore: {
    name: 'truststores',
    fields: { createdAt: integer, uniqueName: text, intendedUsage: integer, certificates: bytesList },
    unique: [['uniqueName']],
    searchable: ['uniqueName'],
  },
  devidRegistration: {
    name: 'devid_registrations',
    fields: {
      createdAt: integer,
      uniqueName: text,
      truststore: to('truststore'),
      domain: to('domain'),
      serialNumberPattern: text,
    },
    unique: [['uniqueName']],
    searchable: ['uniqueName', 'serialNumberPattern'],
  },
  signedMessage: {
    name: 'signed_messages',
    fields: {
      createdAt: integer,
      signer: to('credential'),
      signerName: text,
      hashValue: text,
      // The first 32 octets distinguish signatures. An ML-DSA signature has up to 4627.
      signature: { ...text, orderedBy: 64 },
    },
    unique: [],
    searchable: ['signerName', 'hashValue', 'signature'],
    large: true,
    orders: ['createdAt', 'signer', 'signerName', 'hashValue', 'signature'],
  },
  transaction: {
    name: 'transactions',
    fields: {
      createdAt: integer,
      name: text,
      operation: text,
      requester: text,
      // Not foreign keys: kept for a day or longer, even if these records have been deleted.
      relay: orNull(integer),
      device: orNull(integer),
      domain: integer,
      profile: orNull(text),
      state: text,
      expiresAt: integer,
      replayableUntil: orNull(integer),
      certificate: orNull(to('certificate')),
      certReqId: integer,
      request: orNull(bytes),
      openingDigest: bytes,
      openingAnswer: bytes,
      latestDigest: orNull(bytes),
      latestAnswer: orNull(bytes),
      nonce: bytes,
    },
    unique: [['name']],
    searchable: ['name', 'operation', 'requester'],
    large: true,
  },
  approvalPolicy: {
    name: 'approval_policies',
    fields: {
      createdAt: integer,
      uniqueName: text,
      priority: integer,
      isActive: boolean,
      protocols: json,
      operations: json,
      domain: orNull(to('domain')),
      profile: orNull(to('profile')),
      device: orNull(to('device')),
      devicePattern: orNull(text),
      decision: text,
      approvers: integer,
      expiresIn: integer,
    },
    unique: [['uniqueName']],
    searchable: ['uniqueName'],
  },
  approval: {
    name: 'approvals',
    fields: {
      createdAt: integer,
      state: text,
      answersFor: orNull(text),
      requestDigest: text,
      outcomeDigest: text,
      // Not foreign keys: history is kept when the records have been deleted.
      policy: integer,
      policyName: text,
      operation: text,
      protocol: text,
      domain: integer,
      domainName: text,
      device: orNull(integer),
      deviceName: orNull(text),
      profile: orNull(integer),
      profileName: orNull(text),
      requester: text,
      requesterName: text,
      address: text,
      subject: text,
      request: orNull(bytes),
      requestKind: orNull(text),
      content: json,
      approvers: integer,
      approvals: integer,
      lasts: integer,
      expiresAt: integer,
      certificate: orNull(to('certificate')),
    },
    unique: [['answersFor']],
    searchable: ['subject', 'deviceName', 'requesterName', 'domainName', 'profileName'],
    large: true,
  },
  approvalDecision: {
    name: 'approval_decisions',
    fields: {
      createdAt: integer,
      approval: ownedBy('approval'),
      approver: text,
      approverName: text,
      verdict: text,
      comment: text,
    },
    unique: [['approval', 'approver']],
    searchable: ['approverName', 'comment'],
  },
  upstreamRequest: {
    name: 'upstream_requests',
    fields: {
      createdAt: integer,
      issuer: text,
      state: text,
      answersFor: orNull(text),
      operation: text,
      // Not foreign keys: kept for a while, even if the records have been deleted.
      ca: orNull(integer),
      subject: text,
      wanted: bytes,
      requestKind: text,
      request: bytes,
      renews: orNull(bytes),
      message: orNull(bytes),
      device: orNull(integer),
      domain: orNull(integer),
      profile: orNull(integer),
      profileName: text,
      protocol: text,
      actor,
      inventoryName: orNull(text),
      purpose: orNull(json),
      handle: orNull(text),
      attempts: integer,
      nextAt: integer,
      expiresAt: integer,
      reason: orNull(text),
      code: orNull(text),
      refused: orNull(bytes),
      certificate: orNull(to('certificate')),
    },
    unique: [['answersFor']],
    searchable: ['issuer', 'subject'],
    large: true,
  },
  webhook: {
    name: 'webhooks',
    fields: {
      createdAt: integer,
      uniqueName: text,
      url: text,
      events: json,
      isActive: boolean,
      truststore: orNull(to('truststore')),
      handle: text,
      secret: bytes,
    },
    unique: [['uniqueName'], ['handle']],
    searchable: ['uniqueName', 'url'],
  },
  webhookDelivery: {
    name: 'webhook_deliveries',
    fields: {
      createdAt: integer,
      webhook: ownedBy('webhook'),
      message: text,
      event: text,
      object: orNull(integer),
      data: json,
      state: text,
      attempts: integer,
      dueAt: integer,
      deliveredAt: orNull(integer),
      lastStatus: orNull(integer),
      lastError: orNull(text),
    },
    unique: [['message']],
    searchable: ['message', 'event', 'lastError'],
    large: true,
  },
  role: {
    name: 'roles',
    fields: { createdAt: integer, uniqueName: text, permissions: json, isProtected: boolean },
    unique: [['uniqueName']],
    searchable: ['uniqueName'],
  },
  user: {
    name: 'users',
    fields: {
      createdAt: integer,
      username: text,
      passwordHash: text,
      role: to('role'),
      isActive: boolean,
      generation: integer,
      mustChangePassword: boolean,
    },
    unique: [['username']],
    searchable: ['username'],
  },
  session: {
    name: 'sessions',
    fields: {
      createdAt: integer,
      user: ownedBy('user'),
      userGeneration: integer,
      generation: integer,
      expiresAt: integer,
      isRevoked: boolean,
    },
    unique: [],
    searchable: [],
  },
  serviceAccount: {
    name: 'service_accounts',
    fields: {
      createdAt: integer,
      uniqueName: text,
      role: to('role'),
      isActive: boolean,
      secretHash: bytes,
      generation: integer,
    },
    unique: [['uniqueName']],
    searchable: ['uniqueName'],
  },
  backup: {
    name: 'backups',
    fields: {
      createdAt: integer,
      remoteDirectory: text,
      user: text,
      lastRunAt: orNull(integer),
      lastResult: orNull(text),
    },
    unique: [],
    searchable: ['remoteDirectory', 'user'],
  },
  setting: {
    name: 'settings',
    fields: { name: text, value: bytes },
    unique: [['name']],
    searchable: ['name'],
  },
  loginFailure: {
    name: 'login_failures',
    fields: { at: integer, subject: text },
    unique: [],
    searchable: ['subject'],
  },
  knownAddress: {
    name: 'known_addresses',
    fields: { realm: text, name: text, address: text, at: integer },
    unique: [['realm', 'name', 'address']],
    searchable: ['name'],
  },
  auditEvent: {
    name: 'audit_events',
    fields: {
      at: integer,
      actor,
      action: text,
      object: text,
      outcome: { ...text, usual: 'success' },
      detail: json,
      chain: text,
      sequence: integer,
      hash: bytes,
      requestId: orNull(text),
    },
    unique: [['chain', 'sequence']],
    searchable: ['actor', 'action', 'object', 'detail'],
    large: true,
  },
} as const satisfies { readonly [K in Kind]: TableOf<K> };

export const kinds = Object.keys(schema) as readonly Kind[];

export const tableOf = (kind: Kind): Table => schema[kind];

/** `notValidBefore` → `not_valid_before`. */
export const columnName = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `not_valid_before` → `notValidBefore`. */
export const fieldName = (column: string): string =>
  column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

type Columns = readonly (readonly [string, Column])[];

const columns: ReadonlyMap<Kind, Columns> = new Map(
  kinds.map((kind) => [kind, Object.entries(tableOf(kind).fields)]),
);

/** Returns all fields of a kind except `id`, in the order of the schema. */
export const columnsOf = (kind: Kind): Columns => columns.get(kind)!;

const id: Column = integer;

/** Returns the column of a field, including `id`; undefined for an unknown field. */
export function columnOf(kind: Kind, field: string): Column | undefined {
  if (field === 'id') return id;
  const { fields } = tableOf(kind);
  return Object.hasOwn(fields, field) ? fields[field] : undefined;
}
