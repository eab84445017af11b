import type { DamagedRecord } from '../fault.ts';
import type { KnownAddress, LoginFailure, Role, ServiceAccount, Session, User } from '../records/account.ts';
import type { Approval, ApprovalDecision } from '../records/approval.ts';
import type { ApprovalPolicy } from '../records/approval-policy.ts';
import type { AuditEvent, ChainedEvent } from '../records/audit-event.ts';
import type { CertificateKey, StoredCertificate } from '../records/certificate.ts';
import type { Credential, SignedMessage } from '../records/credential.ts';
import type { Device, NoOnboardingConfig, OnboardingConfig } from '../records/device.ts';
import type { DeviceImport, DeviceImportPart } from '../records/device-import.ts';
import type { CertificateProfile, DevidRegistration, Domain, Truststore } from '../records/domain.ts';
import type { CrlPart, IssuingCa, StoredCrl } from '../records/issuing-ca.ts';
import type { Backup, Setting } from '../records/setting.ts';
import type { Transaction } from '../records/transaction.ts';
import type { UpstreamRequest } from '../records/upstream-request.ts';
import type { Webhook, WebhookDelivery } from '../records/webhook.ts';
import type { RevocationReason } from '../x509/crl.ts';
import type { Health } from './platform.ts';
import type { Snapshot } from './snapshot.ts';

/** Maps every kind of record to its type. Times are milliseconds since 1970; all records are plain data. */
export interface Records {
  domain: Domain;
  profile: CertificateProfile;
  issuingCa: IssuingCa;
  crl: StoredCrl;
  crlPart: CrlPart;
  credential: Credential;
  certificate: StoredCertificate;
  certificateKey: CertificateKey;
  device: Device;
  deviceImport: DeviceImport;
  deviceImportPart: DeviceImportPart;
  onboardingConfig: OnboardingConfig;
  noOnboardingConfig: NoOnboardingConfig;
  truststore: Truststore;
  devidRegistration: DevidRegistration;
  signedMessage: SignedMessage;
  transaction: Transaction;
  upstreamRequest: UpstreamRequest;
  approvalPolicy: ApprovalPolicy;
  approval: Approval;
  approvalDecision: ApprovalDecision;
  webhook: Webhook;
  webhookDelivery: WebhookDelivery;
  role: Role;
  user: User;
  session: Session;
  serviceAccount: ServiceAccount;
  backup: Backup;
  setting: Setting;
  loginFailure: LoginFailure;
  knownAddress: KnownAddress;
  auditEvent: ChainedEvent;
}

export type Kind = keyof Records;

/**
 * Kinds whose commits raise the change counter: configuration that is read often, changes rarely and is cached by every
 * process.
 */
export const configurationKinds = [
  'domain',
  'profile',
  'issuingCa',
  'credential',
  'truststore',
  'devidRegistration',
  'approvalPolicy',
  'webhook',
  'role',
  'setting',
] as const satisfies readonly Kind[];

/**
 * Stands for the record that a write of a commit creates or changes (`as`): later writes of the same commit refer to
 * the record by the handle instead of an id. Handles are compared by identity and have no meaning outside of a commit,
 * so one handle can serve any number of commits.
 */
export interface Handle {
  readonly handle: string;
}

/** Creates a handle. `name` appears only in error messages. */
export const newHandle = (name: string): Handle => Object.freeze({ handle: name });

export type Values<K extends Kind> = {
  readonly [F in Exclude<keyof Records[K], 'id'>]:
    | Records[K][F]
    | (number extends Records[K][F] ? Handle : never);
};

export type Changes<K extends Kind> = Partial<Values<K>>;

export type Write =
  | {
      [K in Kind]: {
        readonly op: 'insert';
        readonly kind: K;
        readonly values: Values<K>;
        readonly as?: Handle;
      };
    }[Exclude<Kind, 'auditEvent'>]
  /** `where` is a guard: unless the record exists with all these values, the whole commit fails with Fault conflict. */
  | {
      [K in Kind]: {
        readonly op: 'update';
        readonly kind: K;
        readonly id: number;
        readonly where?: Partial<Records[K]>;
        readonly set: Changes<K>;
        /** Does not raise the change counter, because no process caches these fields. */
        readonly quiet?: boolean;
        readonly as?: Handle;
      };
    }[Exclude<Kind, 'auditEvent'>]
  /**
   * Changes nothing: unless the record exists with all these values when the commit takes effect, the commit fails with
   * Fault conflict.
   */
  | {
      [K in Kind]: {
        readonly op: 'require';
        readonly kind: K;
        readonly id: number;
        readonly where: Partial<Records[K]>;
        readonly as?: Handle;
      };
    }[Exclude<Kind, 'auditEvent'>]
  | {
      [K in Kind]: {
        readonly op: 'delete';
        readonly kind: K;
        readonly id: number;
        readonly where?: Partial<Records[K]>;
      };
    }[Exclude<Kind, 'auditEvent'>]
  /** Appends to the audit chain of this process. The id of the record `about` completes `object` to `<object>:<id>`. */
  | { readonly op: 'audit'; readonly event: AuditEvent; readonly about?: Handle };

export interface Condition<K extends Kind> {
  readonly field: keyof Records[K] & string;
  /**
   * `contains`: the field, as stored, contains the value (text), ignoring case. `startsWith`: the field starts with
   * exactly this value; an index speeds this up.
   */
  readonly is:
    | 'equal'
    | 'less'
    | 'lessOrEqual'
    | 'greater'
    | 'greaterOrEqual'
    | 'oneOf'
    | 'contains'
    | 'startsWith';
  readonly value: string | number | boolean | null | readonly (string | number)[];
}

/** Tests whether a record of another kind refers to a record and meets further conditions. */
export interface Referral {
  readonly by: 'certificate';
  /** An indexed field that holds the id. */
  readonly in: keyof Records['certificate'] & string;
  readonly where: readonly Condition<'certificate'>[];
  /** False: there must be no such record. */
  readonly exists: boolean;
}

export interface Query<K extends Kind> {
  readonly where?: readonly Condition<K>[];
  readonly referral?: Referral;
  /** Words that must each occur in one of the searchable fields of the kind, ignoring case. At most 10. */
  readonly search?: readonly string[];
  /** Default: by id, descending (newest first). Ties are broken by id in the same direction. */
  readonly order?: {
    readonly field: keyof Records[K] & string;
    readonly descending: boolean;
    /** The sort order of the values of an integer field in a small table; values that are not listed come last. */
    readonly values?: readonly number[];
  };
  /** 1 to 1000. */
  readonly limit: number;
  /** `next` of an earlier page of the same query. Fault malformed for anything else. */
  readonly cursor?: string;
  /** The list leaves out damaged records and names them in `damaged`. Default: Fault internal for the first of them. */
  readonly skipDamaged?: true;
}

export interface Tally {
  readonly values: readonly (string | number | null)[];
  readonly count: number;
}

export interface Page<T> {
  readonly records: readonly T[];
  /** The cursor of the next page (keyset, never an offset); absent on the last page. */
  readonly next?: string;
  /** Records that belong here and cannot be read; absent where there are none. */
  readonly damaged?: readonly DamagedRecord[];
}

/** The entry of a certificate in a CRL. */
export interface RevokedCertificate {
  /** Upper-case hex. */
  readonly serialNumber: string;
  readonly revokedAt: number;
  readonly revocationReason: RevocationReason | null;
  readonly invalidityDate: number | null;
}

/** The last event of an audit chain, stored apart from the events so that truncation is detected. */
export interface AuditHead {
  readonly chain: string;
  readonly sequence: number;
  readonly hash: Uint8Array;
}

/**
 * What an enrolment reads from the store first, in one query: of the device's configuration only the fields that
 * authentication needs.
 */
export interface DeviceLogin {
  readonly device: Device;
  /** null: the device has no configuration. */
  readonly protocols: NoOnboardingConfig['protocols'] | null;
  /** The secret, sealed by the vault. */
  readonly secret: Uint8Array | null;
}

export type DeviceSecret = 'estPassword' | 'cmpSharedSecret';

/** Reads of many records. */
export interface Reads {
  list<K extends Kind>(kind: K, query: Query<K>): Promise<Page<Records[K]>>;
  /**
   * Lists large records without some of their fields, which are not read at all. Faults: malformed if the query sorts
   * by one of these fields.
   */
  listWithout<K extends Kind, F extends keyof Records[K] & string>(
    kind: K,
    fields: readonly F[],
    query: Query<K>,
  ): Promise<Page<Omit<Records[K], F>>>;
  /** Counts the matching records, but stops at `atMost`. */
  count<K extends Kind>(kind: K, where: readonly Condition<K>[], atMost: number): Promise<number>;
  /**
   * Counts the matching records for each combination of values in the fields `by` (text or integers). Examines at most
   * `atMost` records, in no particular order. Each tally has its values in the order of `by`.
   */
  tally<K extends Kind>(
    kind: K,
    where: readonly Condition<K>[],
    by: readonly (keyof Records[K] & string)[],
    atMost: number,
  ): Promise<readonly Tally[]>;
}

/**
 * Stores everything durable. Faults of every member: unavailable (the database is unreachable: try again), internal.
 * When `commit` resolves, its writes survive a power failure. When it rejects, nothing was written, unless the Fault is
 * `unavailable`: then the result is unknown.
 */
export interface Store extends Reads {
  get<K extends Kind>(kind: K, id: number): Promise<Records[K] | undefined>;
  /**
   * Returns the record with these values; if there are several, the one with the lowest id. Meant for unique or indexed
   * fields.
   */
  find<K extends Kind>(kind: K, where: Partial<Records[K]>): Promise<Records[K] | undefined>;
  /**
   * Returns reads on behalf of an account, separated from those of maintenance and enrolment: each account runs one
   * query at a time, and its other queries wait. A list leaves out damaged records and names them in `damaged`. Further
   * Faults: unavailable if too many queries wait or a query takes too long. Absent if a store does not separate accounts.
   */
  readsFor?(account: string): Reads;
  /** Finds a device by common name, or by id if `name` is a number and no device has this common name. */
  deviceLogin(name: string, secret: DeviceSecret): Promise<DeviceLogin | undefined>;
  /**
   * Iterates over the certificates of a CA that are revoked or on hold and expire at `since` or later, each once. The
   * result includes at least all certificates that have this status from before the call until its end. Reads page by
   * page, so that other work of this process can run between pages.
   */
  revoked(ca: number, since: number): AsyncIterable<RevokedCertificate>;
  /**
   * Performs all writes in order, or none. Returns the ids of the records that each write touched (0 for audit).
   * Faults: conflict with `field` for a duplicate of a unique value; conflict for a guard that does not hold; conflict
   * for the deletion of a record to which others refer (the detail names their kind).
   */
  commit(writes: readonly Write[]): Promise<readonly number[]>;
  /**
   * Resolves once everything that was read before is durable: a commit of another process can be visible a moment
   * before a synchronous standby has it. Call it before you hand out a stored record without a commit of your own.
   * Absent if everything that can be read is durable.
   */
  confirm?(): Promise<void>;
  /** Returns a counter that rises with every commit, on any instance, that touches one of `configurationKinds`. */
  changeCounter(): Promise<number>;
  /**
   * Acquires or renews a lease for `seconds` from now and returns true, or returns false while another holder has it. 0
   * seconds releases the lease. A lease that expires more than twice `seconds` from now was taken while the clock was
   * wrong, and counts as free.
   */
  lease(name: string, holder: string, seconds: number): Promise<boolean>;
  /**
   * Returns the heads of up to 1000 chains in order of their names, starting after the name `after` (`''`: from the
   * first).
   */
  auditHeads(after: string): Promise<readonly AuditHead[]>;
  /**
   * Passes a consistent snapshot of everything to `use` while other work continues to write. Leaves out leases, and
   * sign-ins, failed logins and CRLs unless `isCopy` is true. Absent if the store cannot make snapshots.
   */
  snapshot?(use: (snapshot: Snapshot) => Promise<void>, isCopy?: boolean): Promise<void>;
  health(): Promise<Health>;
  close(): Promise<void>;
}
