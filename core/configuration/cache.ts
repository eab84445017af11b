import { toFault } from '../fault.ts';
import { nouns } from '../ports/nouns.ts';
import type { Ports } from '../ports/ports.ts';
import type { Records } from '../ports/store.ts';
import { intendedUsage } from '../records/domain.ts';
import { levelNamed } from '../security/levels.ts';
import { everyRecord, type LoadedKind, type StoredRecords } from '../storage/every-record.ts';
import { formatDistinguishedName } from '../x509/name.ts';
import type { Configuration, SetAside, WithConfiguration } from './configuration.ts';
import { loadCa, loadDomain, loadProfile, loadRegistration, loadWebhook } from './load-record.ts';
import { inOrder, loadPolicy, strictestReading } from './policy-rule.ts';
import { storedSettings } from './runtime-settings.ts';
import { type Anchors, loadAnchors } from './trust-anchors.ts';

type Current = WithConfiguration['configuration'];

const revalidateEvery = 1000;

/** Caches the `Configuration`, and checks once a second whether the store has a newer one. */
export class ConfigurationCache implements Current {
  readonly #ports: Ports;
  #current: Configuration | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<Configuration> | undefined;
  /** Counts the changes that this process made. */
  #epoch = 0;
  /** The anchors of the previous configuration, reused for unchanged truststores. */
  #anchors: ReadonlyMap<number, Anchors> = new Map();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  current(): Configuration | Promise<Configuration> {
    const now = this.#ports.clock.now();
    if (this.#current && now - this.#checkedAt < revalidateEvery && now >= this.#checkedAt)
      return this.#current;
    return this.#loading ?? this.#revalidated();
  }

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
    // Discards what was read before this process changed something.
    if (epoch === this.#epoch) {
      this.#current = configuration;
      this.#checkedAt = now;
    }
    return configuration;
  }

  async #load(counter: number): Promise<Configuration> {
    const ports = this.#ports;
    const [domains, profiles, cas, registrations, truststores, policies, webhooks, { settings, damage }] =
      await Promise.all([
        everyRecord(ports.store, 'domain'),
        everyRecord(ports.store, 'profile'),
        everyRecord(ports.store, 'issuingCa'),
        everyRecord(ports.store, 'devidRegistration'),
        everyRecord(ports.store, 'truststore'),
        everyRecord(ports.store, 'approvalPolicy'),
        everyRecord(ports.store, 'webhook'),
        storedSettings(ports.store),
      ]);
    const setAside: SetAside[] = [];
    const loaded = <K extends LoadedKind, T extends object>(
      kind: K,
      { records, damaged }: StoredRecords<K>,
      load: (record: Records[K]) => T,
    ): readonly T[] => {
      for (const record of damaged) this.#setAside(setAside, kind, record, new Error('damaged'));
      return records.flatMap((record) => {
        try {
          return [load(record)];
        } catch (error) {
          this.#setAside(setAside, kind, record, error);
          return [];
        }
      });
    };
    const loadedDomains = loaded('domain', domains, loadDomain);
    const loadedProfiles = loaded('profile', profiles, (record) => loadProfile(ports, record));
    const loadedCas = loaded('issuingCa', cas, (record) => loadCa(ports, record));
    const loadedRegistrations = loaded('devidRegistration', registrations, (record) =>
      loadRegistration(ports, record),
    );
    const anchors = new Map(
      loaded('truststore', truststores, (record) => ({ record })).flatMap(({ record }) => {
        if (record.intendedUsage !== intendedUsage.idevid) return [];
        const read = loadAnchors(record, this.#anchors.get(record.id));
        if (read.damage) this.#setAside(setAside, 'truststore', record, read.damage);
        return [[record.id, read] as const];
      }),
    );
    this.#anchors = anchors;
    const loadedPolicies = loaded('approvalPolicy', policies, (record) => loadPolicy(ports, record));
    const understood = new Set(loadedPolicies.map(({ record }) => record.id));
    const strict = [...policies.records, ...policies.damaged].flatMap((record) =>
      understood.has(record.id) ? [] : (strictestReading(ports, record) ?? []),
    );
    const loadedWebhooks = loaded('webhook', webhooks, loadWebhook);
    if (damage) this.#setAside(setAside, 'setting', damage.record, damage.cause);
    return {
      counter,
      ...lookups(loadedDomains, loadedProfiles, loadedCas),
      registrations: loadedRegistrations.toSorted((a, b) => a.record.id - b.record.id),
      idevidAnchors: (id) => anchors.get(id)?.certificates ?? [],
      policies: [...loadedPolicies, ...strict].sort(inOrder),
      webhooks: loadedWebhooks.filter(({ isActive }) => isActive),
      security: levelNamed(settings.securityLevel),
      setAside,
    };
  }

  /** Logs a damaged record once, not at each change of the configuration. */
  #setAside(
    setAside: SetAside[],
    kind: SetAside['kind'],
    record: { readonly id: number; readonly uniqueName?: string },
    error: unknown,
  ): void {
    const { code, detail } = toFault(error);
    const reason = code === 'internal' ? 'the record in the store is damaged' : detail;
    const { id, uniqueName = '' } = record;
    setAside.push({ kind, id, uniqueName, reason });
    const known = this.#current?.setAside.some(
      (one) => one.kind === kind && one.id === id && one.reason === reason,
    );
    if (known) return;
    const [noun] = nouns[kind];
    this.#ports.log.error(`${noun} cannot be loaded and is ignored`, error, {
      id,
      name: uniqueName,
      reason,
    });
  }
}

function lookups(
  domains: Configuration['domains'],
  profiles: readonly NonNullable<ReturnType<Configuration['profile']>>[],
  cas: Configuration['cas'],
): Pick<
  Configuration,
  'domains' | 'cas' | 'domainNamed' | 'domain' | 'profile' | 'profileNamed' | 'ca' | 'casNamed'
> {
  const domainIds = new Map(domains.map((domain) => [domain.id, domain]));
  const domainNames = new Map(domains.map((domain) => [domain.uniqueName, domain]));
  const profileIds = new Map(profiles.map((profile) => [profile.record.id, profile]));
  const profileNames = new Map(profiles.map((profile) => [profile.record.uniqueName, profile]));
  const caIds = new Map(cas.map((ca) => [ca.record.id, ca]));
  const caNames = Map.groupBy(cas, (ca) => formatDistinguishedName(ca.certificate.subject));
  return {
    domains,
    cas,
    domainNamed: (name) => domainNames.get(name),
    domain: (id) => domainIds.get(id),
    profile: (id) => profileIds.get(id),
    profileNamed: (name) => profileNames.get(name),
    ca: (id) => caIds.get(id),
    casNamed: (subject) => caNames.get(subject) ?? [],
  };
}
