import { Fault } from '../fault.ts';
import type { Issuer } from '../ports/issuer.ts';
import type { Ports } from '../ports/ports.ts';
import type { Kind, Records } from '../ports/store.ts';
import { type CompiledProfile, compileProfile } from '../profiles/apply.ts';
import type { ProfileRules } from '../profiles/language.ts';
import { parseProfileRules } from '../profiles/parse.ts';
import type { DevidRegistration } from '../records/devid-registration.ts';
import type { Domain } from '../records/domain.ts';
import type { IssuingCa } from '../records/issuing-ca.ts';
import type { CertificateProfile } from '../records/profile.ts';
import { intendedUsage, type Truststore } from '../records/truststore.ts';
import type { Webhook } from '../records/webhook.ts';
import { type LevelRules, levelNamed } from '../security/levels.ts';
import { absentIssuer } from '../signing/absent-issuer.ts';
import { localIssuer } from '../signing/local-issuer.ts';
import { type Certificate, parseCertificate } from '../x509/certificate.ts';
import { formatDistinguishedName } from '../x509/name.ts';
import { inOrder, type LoadedPolicy, loadPolicy } from './policy-rule.ts';
import { currentSettings } from './runtime-settings.ts';

export interface LoadedProfile {
  readonly record: CertificateProfile;
  readonly rules: ProfileRules;
  readonly compiled: CompiledProfile;
}

export interface LoadedCa {
  readonly record: IssuingCa;
  readonly certificate: Certificate;
  /** Its issuer first, up to the root. */
  readonly above: readonly Certificate[];
  /** The CA certificate and those above it, DER. The same array for as long as the CA does not change. */
  readonly chain: readonly Uint8Array[];
  readonly issuer: Issuer;
}

export interface LoadedRegistration {
  readonly record: DevidRegistration;
  matches(serialNumber: string): boolean;
}

/** Read-mostly configuration as it stood at one moment, parsed and compiled. */
export interface Configuration {
  readonly counter: number;
  readonly domains: readonly Domain[];
  readonly cas: readonly LoadedCa[];
  domainNamed(name: string): Domain | undefined;
  domain(id: number): Domain | undefined;
  profile(id: number): LoadedProfile | undefined;
  profileNamed(name: string): LoadedProfile | undefined;
  ca(id: number): LoadedCa | undefined;
  /** CAs with this subject, newest first. `subject` is RFC 4514 as `formatDistinguishedName` writes it. */
  casNamed(subject: string): readonly LoadedCa[];
  /** The oldest first. */
  readonly registrations: readonly LoadedRegistration[];
  /** What a truststore for IDevIDs trusts; nothing where there is none with this id. */
  idevidAnchors(truststore: number): readonly Certificate[];
  /** What has to be approved, in the order in which they are asked. */
  readonly policies: readonly LoadedPolicy[];
  /** Whom to tell what happens: those that are active. */
  readonly webhooks: readonly Webhook[];
  /** What the security level of the service demands. */
  readonly security: LevelRules;
}

const revalidateEvery = 1000;

/** Keeps one `Configuration`, and asks the store once a second whether it still holds. */
export class ConfigurationCache {
  readonly #ports: Ports;
  #current: Configuration | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<Configuration> | undefined;
  /** Counts what this process changed. */
  #epoch = 0;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** At most a second old. Faults: unavailable. */
  current(): Configuration | Promise<Configuration> {
    const now = this.#ports.clock.now();
    if (this.#current && now - this.#checkedAt < revalidateEvery && now >= this.#checkedAt)
      return this.#current;
    return this.#loading ?? this.#revalidated();
  }

  /** The next `current` looks again: this process has changed something. */
  expire(): void {
    this.#epoch++;
    this.#checkedAt = Number.NEGATIVE_INFINITY;
    this.#loading = undefined;
  }

  #revalidated(): Promise<Configuration> {
    const loading = this.#revalidate().finally(() => {
      if (this.#loading === loading) this.#loading = undefined;
    });
    this.#loading = loading;
    return loading;
  }

  async #revalidate(): Promise<Configuration> {
    const now = this.#ports.clock.now();
    const epoch = this.#epoch;
    const counter = await this.#ports.store.changeCounter();
    const known = this.#current;
    const configuration = known?.counter === counter ? known : await this.#load(counter);
    // What was read before this process changed something is no longer worth keeping.
    if (epoch === this.#epoch) {
      this.#current = configuration;
      this.#checkedAt = now;
    }
    return configuration;
  }

  async #load(counter: number): Promise<Configuration> {
    const { log } = this.#ports;
    const [domains, profiles, cas, registrations, truststores, policies, webhooks, settings] =
      await Promise.all([
        this.#all('domain'),
        this.#all('profile'),
        this.#all('issuingCa'),
        this.#all('devidRegistration'),
        this.#all('truststore'),
        this.#all('approvalPolicy'),
        this.#all('webhook'),
        currentSettings(this.#ports.store),
      ]);
    const loadedProfiles = new Map<number, LoadedProfile>();
    for (const record of profiles) {
      try {
        const rules = parseProfileRules(record.profile, this.#ports.patterns);
        loadedProfiles.set(record.id, {
          record,
          rules,
          compiled: compileProfile(rules, this.#ports.patterns),
        });
      } catch (error) {
        log.error('profile cannot be used', error, { profile: record.uniqueName });
      }
    }
    const loadedCas = new Map<number, LoadedCa>();
    for (const record of cas) {
      try {
        loadedCas.set(record.id, this.#loadCa(record));
      } catch (error) {
        log.error('issuing CA cannot be used', error, { ca: record.uniqueName });
      }
    }
    const loadedRegistrations: LoadedRegistration[] = [];
    for (const record of registrations.toSorted((a, b) => a.id - b.id)) {
      try {
        const matches = this.#ports.patterns.compile(record.serialNumberPattern);
        loadedRegistrations.push({ record, matches });
      } catch (error) {
        log.error('DevID registration cannot be used', error, { registration: record.uniqueName });
      }
    }
    return {
      ...configuration(counter, domains, loadedProfiles, loadedCas),
      registrations: loadedRegistrations,
      idevidAnchors: anchorsOf(truststores),
      policies: policies.map((record) => loadPolicy(this.#ports, record)).sort(inOrder),
      webhooks: webhooks.filter(({ isActive }) => isActive),
      security: levelNamed(settings.securityLevel),
    };
  }

  #loadCa(record: IssuingCa): LoadedCa {
    const certificate = parseCertificate(record.certificate);
    const chain = [record.certificate, ...record.chain];
    const issuer = record.key
      ? localIssuer(this.#keyStore(record.key.store), record.key.id, chain)
      : (this.#ports.issuers.get(record.issuer ?? '') ?? absentIssuer(record.issuer ?? ''));
    return { record, certificate, above: record.chain.map(parseCertificate), chain, issuer };
  }

  #keyStore(name: string) {
    const store = this.#ports.keyStores.get(name);
    if (!store) throw new Fault('unavailable', `no key store called ${name} is configured`);
    return store;
  }

  async #all<K extends Kind>(kind: K): Promise<Records[K][]> {
    const records: Records[K][] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#ports.store.list(kind, { limit: 1000, ...(cursor && { cursor }) });
      records.push(...page.records);
      cursor = page.next;
    } while (cursor);
    return records;
  }
}

function configuration(
  counter: number,
  domains: readonly Domain[],
  profiles: ReadonlyMap<number, LoadedProfile>,
  cas: ReadonlyMap<number, LoadedCa>,
): Omit<Configuration, 'registrations' | 'idevidAnchors' | 'policies' | 'webhooks' | 'security'> {
  const domainIds = new Map(domains.map((domain) => [domain.id, domain]));
  const domainNames = new Map(domains.map((domain) => [domain.uniqueName, domain]));
  const profileNames = new Map([...profiles.values()].map((profile) => [profile.record.uniqueName, profile]));
  const caNames = Map.groupBy(cas.values(), (ca) => formatDistinguishedName(ca.certificate.subject));
  return {
    counter,
    domains,
    cas: [...cas.values()],
    domainNamed: (name) => domainNames.get(name),
    domain: (id) => domainIds.get(id),
    profile: (id) => profiles.get(id),
    profileNamed: (name) => profileNames.get(name),
    ca: (id) => cas.get(id),
    casNamed: (subject) => caNames.get(subject) ?? [],
  };
}

/** Each truststore's certificates are parsed when they are first asked for. */
function anchorsOf(truststores: readonly Truststore[]): Configuration['idevidAnchors'] {
  const idevid = truststores.filter((truststore) => truststore.intendedUsage === intendedUsage.idevid);
  const stored = new Map(idevid.map(({ id, certificates }) => [id, certificates]));
  const parsed = new Map<number, readonly Certificate[]>();
  return (id) => {
    let anchors = parsed.get(id);
    if (!anchors) {
      anchors = (stored.get(id) ?? []).map(parseCertificate);
      if (stored.has(id)) parsed.set(id, anchors);
    }
    return anchors;
  };
}

/** Gives the configuration as it stands. */
export interface WithConfiguration {
  readonly configuration: ConfigurationCache;
}
