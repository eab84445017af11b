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

/** Every kind of record and its shape. Times are milliseconds since 1970; all are plain data. */
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

/** Kinds whose commits raise the change counter: read-mostly configuration that processes cache. */
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
 * Stands for the record that a write of a commit touches (`as`): the writes after it refer to that record by the handle in place of
 * an id. Handles are compared by identity and mean nothing outside of a commit, so that one may serve any number of commits.
 */
export interface Handle {
  readonly handle: string;
}

/** Makes a handle. `name` is for people who debug. */
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
  /** `where` guards: unless the record exists and has all these values, the whole commit fails with Fault conflict. */
  | {
      [K in Kind]: {
        readonly op: 'update';
        readonly kind: K;
        readonly id: number;
        readonly where?: Partial<Records[K]>;
        readonly set: Changes<K>;
        /** Does not raise the change counter: nobody caches the fields that are set. */
        readonly quiet?: boolean;
        readonly as?: Handle;
      };
    }[Exclude<Kind, 'auditEvent'>]
  /** Changes nothing: unless the record exists and has all these values when the commit takes effect, it fails with Fault conflict. */
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
  /** Appends to this process's audit chain. The record of `about` completes `object` as `<object>:<id>`. */
  | { readonly op: 'audit'; readonly event: AuditEvent; readonly about?: Handle };

export interface Condition<K extends Kind> {
  readonly field: keyof Records[K] & string;
  /**
   * `contains`: the value (text) stands in the field as it is stored, in whatever case; `startsWith`: at its beginning, exactly so,
   * which an index helps to find.
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

/** Whether some record of another kind refers to a record, and meets conditions of its own. */
export interface Referral {
  readonly by: 'certificate';
  /** An indexed field that holds the id. */
  readonly in: keyof Records['certificate'] & string;
  readonly where: readonly Condition<'certificate'>[];
  /** False: there must be none. */
  readonly exists: boolean;
}

export interface Query<K extends Kind> {
  readonly where?: readonly Condition<K>[];
  readonly referral?: Referral;
  /** Words of which each must be in one of the kind's searchable fields, case-insensitively. At most 10. */
  readonly search?: readonly string[];
  /** Default: by id, descending (newest first). Ties are broken by id in the same direction. */
  readonly order?: {
    readonly field: keyof Records[K] & string;
    readonly descending: boolean;
    /** Of an integer field in a small table: its values in the order in which they sort; others come after them. */
    readonly values?: readonly number[];
  };
  /** 1 to 1000. */
  readonly limit: number;
  /** `next` of an earlier page of the same query. Fault malformed when it is not one. */
  readonly cursor?: string;
}

export interface Tally {
  readonly values: readonly (string | number | null)[];
  readonly count: number;
}

export interface Page<T> {
  readonly records: readonly T[];
  /** Where the next page starts (keyset, never an offset); absent on the last. */
  readonly next?: string;
}

/** What a CRL says of a certificate. */
export interface RevokedCertificate {
  /** Upper-case hex. */
  readonly serialNumber: string;
  readonly revokedAt: number;
  readonly revocationReason: RevocationReason | null;
  readonly invalidityDate: number | null;
}

/** The last event of an audit chain, kept apart from the events so that none can be cut off unnoticed. */
export interface AuditHead {
  readonly chain: string;
  readonly sequence: number;
  readonly hash: Uint8Array;
}

/** What an enrolment asks of the store before anything else, in one go; of the device's configuration no more than it needs. */
export interface DeviceLogin {
  readonly device: Device;
  /** null: it has no configuration. */
  readonly protocols: NoOnboardingConfig['protocols'] | null;
  /** Sealed by the vault. */
  readonly secret: Uint8Array | null;
}

export type DeviceSecret = 'estPassword' | 'cmpSharedSecret';

/** Reads of many records. */
export interface Reads {
  list<K extends Kind>(kind: K, query: Query<K>): Promise<Page<Records[K]>>;
  /** The same for records that are large: these fields are neither read nor there. Faults: malformed where one of them is the order. */
  listWithout<K extends Kind, F extends keyof Records[K] & string>(
    kind: K,
    fields: readonly F[],
    query: Query<K>,
  ): Promise<Page<Omit<Records[K], F>>>;
  /** How many records match, counted no further than `atMost`. */
  count<K extends Kind>(kind: K, where: readonly Condition<K>[], atMost: number): Promise<number>;
  /**
   * How many of the records that match have which values in the fields `by` (text or integers). At most `atMost` of them are
   * looked at, whichever; a tally has its values in the order of `by`.
   */
  tally<K extends Kind>(
    kind: K,
    where: readonly Condition<K>[],
    by: readonly (keyof Records[K] & string)[],
    atMost: number,
  ): Promise<readonly Tally[]>;
}

/**
 * Everything durable. Faults of every member: unavailable (the database is out of reach: try again), internal.
 * When `commit` resolves, its writes survive a power cut; when it rejects, none of them happened, unless the Fault is
 * `unavailable`, which leaves that open.
 */
export interface Store extends Reads {
  get<K extends Kind>(kind: K, id: number): Promise<Records[K] | undefined>;
  /** The record with these values, the lowest id where several have. Meant for unique or indexed fields. */
  find<K extends Kind>(kind: K, where: Partial<Records[K]>): Promise<Records[K] | undefined>;
  /**
   * The same reads for an account, apart from those of maintenance and enrolment: one of them is under way at a time, its others
   * wait. Faults besides: unavailable when too many wait or one takes too long. Absent where a store does not
   * tell accounts apart.
   */
  readsFor?(account: string): Reads;
  /** By common name, or by id where `name` is a number and no device is called so. */
  deviceLogin(name: string, secret: DeviceSecret): Promise<DeviceLogin | undefined>;
  /**
   * Those of a CA's certificates that are revoked or on hold and end at `since` or later, each once: at least all that were
   * so before the call and still are when it ends. Read page by page; in between, other work of this process has its turn.
   */
  revoked(ca: number, since: number): AsyncIterable<RevokedCertificate>;
  /**
   * All writes or none, in order. The ids of the records that each write touched (0 for audit). Faults: conflict with
   * `field` for a second record with a unique value; conflict for a guard that does not hold, and for a
   * delete of what others refer to (the detail names the kind that does).
   */
  commit(writes: readonly Write[]): Promise<readonly number[]>;
  /**
   * Resolves when whatever was read before is durable. What another process commits can be read a moment before a synchronous
   * standby has it. To be called before a stored record is handed out that no commit of the caller's own vouches for. Absent where
   * everything that can be read is durable.
   */
  confirm?(): Promise<void>;
  /** Raised by every commit, at any instance, that touches one of `configurationKinds`. */
  changeCounter(): Promise<number>;
  /**
   * True for one holder at a time; held for `seconds` from now, renewed by calling again, free when it runs out. With
   * 0 seconds the holder gives it back. One that runs out later than two of that length from now was taken while the clock was wrong,
   * and is free.
   */
  lease(name: string, holder: string, seconds: number): Promise<boolean>;
  /** The heads of up to 1000 chains whose names come after `after` (`''`: from the first), by name. */
  auditHeads(after: string): Promise<readonly AuditHead[]>;
  /**
   * Everything as it stands now, read while `use` runs and others go on writing; sign-ins, failed logins, CRLs and leases are left
   * out. Absent where a store cannot do it.
   */
  snapshot?(use: (snapshot: Snapshot) => Promise<void>): Promise<void>;
  health(): Promise<Health>;
  close(): Promise<void>;
}
