import { rotateSecrets } from '#core/administration/rotate-secrets.ts';
import { demand, type Principal } from './access/principal.ts';
import type { Resource } from './access/resource.ts';
import { type Accounts, accounts } from './accounts/accounts.ts';
import { type RoleInput, roles } from './accounts/roles.ts';
import { type ServiceAccounts, serviceAccounts } from './accounts/service-accounts.ts';
import { Throttle } from './accounts/throttle.ts';
import { type UserInput, type UserView, users } from './accounts/users.ts';
import { type ApprovalPolicyInput, approvalPolicies } from './administration/approval-policies.ts';
import { type AuditEvents, auditEvents } from './administration/audit-events.ts';
import { type BootstrapOptions, type BootstrapResult, bootstrap } from './administration/bootstrap.ts';
import { type Certificates, certificates } from './administration/certificates.ts';
import { type Credentials, credentials } from './administration/credentials.ts';
import { devidRegistrations, type RegistrationInput } from './administration/devid-registrations.ts';
import { type DomainInput, domains } from './administration/domains.ts';
import { type EnrolmentUrls, enrolmentUrls } from './administration/enrolment-urls.ts';
import { type IssuingCas, issuingCas } from './administration/issuing-cas.ts';
import { type LogFilesUse, logFiles } from './administration/log-files.ts';
import { type Profiles, profiles } from './administration/profiles.ts';
import { type RuntimeSettingsUse, runtimeSettings } from './administration/settings.ts';
import { type Signers, signers } from './administration/signers.ts';
import { type TruststoreInput, truststores } from './administration/truststores.ts';
import { type UpstreamRequests, upstreamRequests } from './administration/upstream-requests.ts';
import { type Approvals, approvals } from './approvals/approvals.ts';
import { withRequestIds } from './audit/record.ts';
import { RefusalBudget } from './audit/refusal-budget.ts';
import { type Backups, backups } from './backups/backups.ts';
import { Crls } from './ca/crls.ts';
import { type ProtectionCredential, ProtectionCredentials } from './ca/protection-credential.ts';
import { type RevocationStatuses, revocationStatuses } from './ca/revocation-status.ts';
import { type TlsCredential, TlsCredentials } from './ca/tls-credential.ts';
import { ConfigurationCache } from './configuration/cache.ts';
import type { LoadedCa } from './configuration/configuration.ts';
import { resolveCa, resolveDomain, resolveProfile } from './configuration/target.ts';
import {
  type NoOnboardingInput,
  type NoOnboardingView,
  noOnboardingConfigs,
  type OnboardingInput,
  type OnboardingView,
  onboardingConfigs,
} from './devices/configs.ts';
import { type Devices, devices } from './devices/devices.ts';
import { type DeviceImports, deviceImports } from './devices/import/imports.ts';
import { proceedImports } from './devices/import/proceed.ts';
import { enrol } from './enrolment/enrol.ts';
import { type Information, information } from './enrolment/information.ts';
import { type RevocationRequest, revoke } from './enrolment/revoke.ts';
import { type Transactions, transactions } from './enrolment/transactions.ts';
import { Fault } from './fault.ts';
import type { HealthChecks, Readiness } from './health/readiness.ts';
import type { Deferral, EnrolmentRequest, EnrolmentResult } from './issuance/enrolment-request.ts';
import { healthOf } from './maintenance/health.ts';
import { Maintenance } from './maintenance/maintenance.ts';
import type { MetricFamily } from './metrics/counters.ts';
import { EnrolmentMetrics } from './metrics/enrolments.ts';
import { gauges } from './metrics/gauges.ts';
import { type Overview, overview } from './overview/overview.ts';
import type { Ports } from './ports/ports.ts';
import type { GatewaySettings } from './ports/settings.ts';
import type { Kind } from './ports/store.ts';
import type { Role } from './records/account.ts';
import type { ApprovalPolicy } from './records/approval-policy.ts';
import type { DevidRegistration, Domain, Truststore } from './records/domain.ts';
import { admit, type OutrightRefusal, refusedOutright } from './requester/admit.ts';
import type { Evidence, Target } from './requester/evidence.ts';
import type { Requester } from './requester/requester.ts';
import type { LevelRules } from './security/levels.ts';
import { DamagedRecords } from './storage/damaged-records.ts';
import { Circuits } from './upstream/circuits.ts';
import { Deliveries } from './webhooks/deliver.ts';
import { type WebhookDeliveries, webhookDeliveries } from './webhooks/deliveries.ts';
import { type Webhooks, webhooks } from './webhooks/webhooks.ts';

/** All use cases, for the inbound adapters. All failures are Faults. */
export interface Gateway {
  /**
   * Authenticates a requester: checks the evidence against the target's domain. Faults: notFound (unknown domain),
   * unauthenticated, forbidden, tooManyRequests.
   */
  admit(evidence: Evidence, target: Target): Promise<Requester>;
  /**
   * Records a refusal in the audit trail that happened before any use case was called, such as a message with invalid
   * protection or out of sequence. Beyond the limit per address, refusals are only counted.
   */
  refused(refusal: OutrightRefusal): Promise<void>;
  /**
   * Issues or renews a certificate. The certificate is durably stored before this resolves. Faults: malformed, badCsr,
   * badProof, badAlgorithm (the request), notFound (unknown profile), forbidden, unavailable.
   */
  enrol(requester: Requester, ask: EnrolmentRequest): Promise<EnrolmentResult>;
  /**
   * Revokes certificates, puts them on hold or releases them. The exchange's response, with the result for each
   * certificate, is stored before this resolves. If one of them needs approval, none is changed. Faults: replayed,
   * conflict after a concurrent change, unavailable.
   */
  revoke(requester: Requester, ask: RevocationRequest): Promise<Deferral | undefined>;
  /** Exchanges of several messages. */
  readonly transactions: Transactions;
  readonly information: Information;
  /** Returns the credential that signs the domain's responses. Faults: notFound, unavailable. */
  protection(domain: string | undefined): Promise<ProtectionCredential>;
  /**
   * Returns the domain's CA certificates, issuing CA first, up to the root, DER. A `profile` does not change them.
   * Faults: notFound, forbidden (a profile that the domain does not offer), unavailable.
   */
  caCertificates(domain: string | undefined, profile?: string): Promise<readonly Uint8Array[]>;

  /** Returns the newest CRL of a CA, DER, without authentication. Faults: notFound. */
  crl(ca: number): Promise<Uint8Array>;
  /** Returns a CA's certificate, DER, without authentication. Faults: notFound. */
  caCertificate(ca: number): Promise<Uint8Array>;
  /** The revocation status of certificates, without authentication, and the credential that signs OCSP responses. */
  readonly revocationStatuses: RevocationStatuses;

  readonly accounts: Accounts;
  readonly users: Resource<'user', UserInput, UserView>;
  readonly roles: Resource<'role', RoleInput, Role>;
  readonly serviceAccounts: ServiceAccounts;
  readonly backups: Backups;
  readonly auditEvents: AuditEvents;
  readonly devices: Devices;
  readonly deviceImports: DeviceImports;
  readonly onboardingConfigs: Resource<'onboardingConfig', OnboardingInput, OnboardingView>;
  readonly noOnboardingConfigs: Resource<'noOnboardingConfig', NoOnboardingInput, NoOnboardingView>;
  readonly domains: Resource<'domain', DomainInput, Domain>;
  /** See `enrolmentUrls`. */
  enrolmentUrls(principal: Principal, domain: number): Promise<readonly EnrolmentUrls[]>;
  readonly profiles: Profiles;
  readonly certificates: Certificates;
  readonly upstreamRequests: UpstreamRequests;
  readonly issuingCas: IssuingCas;
  readonly credentials: Credentials;
  readonly signers: Signers;
  readonly truststores: Resource<'truststore', TruststoreInput, Truststore>;
  readonly approvalPolicies: Resource<'approvalPolicy', ApprovalPolicyInput, ApprovalPolicy>;
  readonly approvals: Approvals;
  readonly webhooks: Webhooks;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly devidRegistrations: Resource<'devidRegistration', RegistrationInput, DevidRegistration>;

  /** Returns the time of the service's clock, ms since 1970. */
  now(): number;
  readonly overview: Overview;
  readonly settings: RuntimeSettingsUse;
  readonly logFiles: LogFilesUse;
  /** Faults: forbidden. */
  metrics(principal: Principal): Promise<readonly MetricFamily[]>;

  /** Returns the state of every dependency by name: `store`, `configuration`, `keys.<name>`, `issuers.<name>`. */
  health(): Promise<HealthChecks>;
  /**
   * Returns whether this instance can store and sign, and the reasons if it cannot. Cheap: concurrent calls share one
   * check.
   */
  readiness(): Promise<Readiness>;
  /** Returns the active TLS server credential. Cheap: returns the same object while nothing changed. */
  tlsCredential(): Promise<TlsCredential>;
  /** Returns the oldest TLS version that the security level permits for the listener. */
  minimumTls(): Promise<LevelRules['minimumTls']>;
  /**
   * Registers `serve`, which is called and awaited when this process activates another TLS server credential, so that
   * the next handshake uses it. To notice changes by other processes, poll `tlsCredential`.
   */
  onTlsCredential(serve: () => Promise<void>): void;
  /** See `bootstrap`. */
  bootstrap(options: BootstrapOptions, pause: () => Promise<void>): Promise<BootstrapResult>;
  /** See `rotateSecrets`. */
  rotateSecrets(principal: Principal): Promise<number>;
  /** See `proceedImports`. Call it every few seconds. */
  proceedImports(): Promise<void>;
  /** Performs the periodic maintenance, on one instance at a time; `holder` names this instance. */
  maintain(holder: string): Promise<void>;
  /** Ends the maintenance of `holder`: another instance takes over at once. To be called when `maintain` has ended. */
  endMaintenance(holder: string): Promise<void>;
  /** Sends the pending webhook messages. See `Deliveries.deliver`. */
  deliver(holder: string, signal: AbortSignal): Promise<void>;
  /** Logs that a list leaves out a record which cannot be shown. */
  leftOut(kind: Kind, id: number, cause: unknown): void;
  /** Resolves when everything that `deliver` has started has ended. */
  delivered(): Promise<void>;
}

export function createGateway(given: Ports, settings: GatewaySettings): Gateway {
  const { requests } = given;
  const ports = requests ? { ...given, store: withRequestIds(given.store, requests) } : given;
  const context = {
    ...ports,
    settings,
    configuration: new ConfigurationCache(ports),
    throttle: new Throttle(ports, settings.loginLimits),
    refusals: new RefusalBudget(ports.clock),
    circuits: new Circuits(ports.clock),
    damagedRecords: new DamagedRecords(ports),
  };
  const { clock } = ports;
  const crls = new Crls(context);
  const protection = new ProtectionCredentials(context);
  const signIn = accounts(context);
  const deliveries = new Deliveries(context);
  const caOf = async (domain: string | undefined): Promise<LoadedCa> => {
    const configuration = await context.configuration.current();
    return resolveCa(configuration, resolveDomain(configuration, domain, settings.defaultDomain));
  };
  const enrolments = new EnrolmentMetrics(clock);
  const ready = healthOf(context);
  const tls = new TlsCredentials(context);
  const maintenance = new Maintenance(context, crls);
  return {
    ...enrolments.measured({
      admit: (evidence, target) => admit(context, evidence, target),
      enrol: (requester, ask) => enrol(context, requester, ask),
    }),
    refused: (refusal) => refusedOutright(context, refusal),
    revoke: (requester, ask) => revoke(context, crls, requester, ask),
    transactions: transactions(context, crls),
    information: information(context, crls),
    protection: async (domain) => protection.of(await caOf(domain)),
    async caCertificates(domain, profile) {
      if (profile !== undefined) {
        const configuration = await context.configuration.current();
        resolveProfile(configuration, resolveDomain(configuration, domain, settings.defaultDomain), profile);
      }
      return (await caOf(domain)).chain;
    },

    crl: async (ca) => (await crls.newest(ca)).crl,
    async caCertificate(id) {
      const ca = (await context.configuration.current()).ca(id);
      if (!ca) throw new Fault('notFound', 'there is no such CA');
      return ca.record.certificate;
    },
    revocationStatuses: revocationStatuses(context),

    accounts: signIn,
    users: users(context),
    roles: roles(context),
    serviceAccounts: serviceAccounts(context),
    backups: backups(context, crls),
    auditEvents: auditEvents(context),
    devices: devices(context, crls),
    deviceImports: deviceImports(context),
    onboardingConfigs: onboardingConfigs(context),
    noOnboardingConfigs: noOnboardingConfigs(context),
    domains: domains(context),
    enrolmentUrls: (principal, domain) => enrolmentUrls(context, principal, domain),
    profiles: profiles(context),
    certificates: certificates(context, crls),
    upstreamRequests: upstreamRequests(context),
    issuingCas: issuingCas(context, crls),
    credentials: credentials(context, crls, () => tls.activated()),
    signers: signers(context),
    truststores: truststores(context),
    approvalPolicies: approvalPolicies(context),
    approvals: approvals(context),
    webhooks: webhooks(context),
    webhookDeliveries: webhookDeliveries(context),
    devidRegistrations: devidRegistrations(context),

    leftOut: (kind, id, cause) =>
      ports.log.error('a damaged record is omitted from a list', cause, { kind, id }),
    now: () => clock.now(),
    overview: overview(context),
    settings: runtimeSettings(context),
    logFiles: logFiles(context),
    async metrics(principal) {
      demand(principal, 'metrics.read');
      return [...enrolments.families(), ...(await gauges(context, (await ready()).checks))];
    },
    health: async () => (await ready()).checks,
    readiness: ready,
    tlsCredential: () => tls.current(),
    minimumTls: async () => (await context.configuration.current()).security.minimumTls,
    onTlsCredential: (serve) => tls.onActivation(serve),
    bootstrap: (options, pause) => bootstrap(context, signIn, crls, options, pause),
    rotateSecrets: (principal) => rotateSecrets(context, principal),
    proceedImports: proceedImports(context),
    deliver: (holder, signal) => deliveries.deliver(holder, signal),
    delivered: () => deliveries.settled(),
    maintain: (holder) => maintenance.run(holder),
    endMaintenance: (holder) => maintenance.release(holder),
  };
}
