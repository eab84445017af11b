import { demand, type Principal } from '../access/principal.ts';
import { type Resource, resource } from '../access/resource.ts';
import { audit } from '../audit/record.ts';
import type { Crls } from '../ca/crls.ts';
import { linkRoots } from '../ca/root-links.ts';
import { type CaEnding, caEndings } from '../configuration/ca-ends.ts';
import { findIssued, type Link, linksAbove } from '../configuration/ca-lookup.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { currentSettings } from '../configuration/runtime-settings.ts';
import { hasExpired } from '../der/time.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { Write } from '../ports/store.ts';
import type { IssuingCa, StoredCrl } from '../records/issuing-ca.ts';
import { caShortcoming } from '../security/demands.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import { parseCertificate } from '../x509/certificate.ts';
import { type CaPosition, caHierarchy } from './ca-hierarchy.ts';
import { type ConfiguredIssuer, configuredIssuers } from './configured-issuers.ts';
import { type KeyStoreChoice, keyStoreChoices } from './key-store-choices.ts';
import { type CaInput, makeCa } from './make-ca.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'keyStores' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithSettings {}

export interface IssuingCas extends Resource<'issuingCa', CaInput, IssuingCa> {
  /**
   * Reactivates a CA. Faults: notFound, conflict if its certificate has expired, is revoked or violates the security
   * level.
   */
  activate(principal: Principal, id: number): Promise<IssuingCa>;
  /** Deactivates a CA: it signs no more certificates, but still publishes CRLs. Faults: notFound. */
  deactivate(principal: Principal, id: number): Promise<IssuingCa>;
  /** Returns its certificate and those above it. Faults: notFound. */
  links(principal: Principal, id: number): Promise<readonly Link[]>;
  /** See `caHierarchy`. */
  hierarchy(principal: Principal): Promise<readonly CaPosition[]>;
  /** See `caEndings`: with the warning period of the settings. */
  endings(principal: Principal): Promise<ReadonlyMap<number, CaEnding>>;
  /** See `keyStoreChoices`. */
  keyStores(principal: Principal): readonly KeyStoreChoice[];
  /** See `configuredIssuers`. */
  issuers(principal: Principal): Promise<readonly ConfiguredIssuer[]>;
  /** Returns the newest CRL; undefined if it has none yet. Faults: notFound (no such CA). */
  crl(principal: Principal, id: number): Promise<StoredCrl | undefined>;
  /** See `Crls.generate`. */
  generateCrl(principal: Principal, id: number): Promise<StoredCrl>;
}

export function issuingCas(context: Dependencies, crls: Crls): IssuingCas {
  const { store, clock } = context;
  const find = async (id: number): Promise<IssuingCa> => {
    const record = await store.get('issuingCa', id);
    if (!record) throw new Fault('notFound', 'there is no such issuing CA');
    return record;
  };
  const collection = resource<'issuingCa', CaInput, IssuingCa>(context, {
    kind: 'issuingCa',
    reads: 'cas.read',
    writes: 'cas.write',
    view: (record) => record,
    summary: ({ uniqueName, commonName, type }) => ({ uniqueName, commonName, type }),
    async update(record, { type, commonName, uniqueName, isActive }) {
      if (type !== undefined && type !== record.type)
        throw new Fault('malformed', 'the type of a CA cannot be changed', { field: 'issuingCaType' });
      if (commonName !== undefined && commonName !== record.commonName)
        throw new Fault('malformed', 'the name of a CA cannot be changed', { field: 'commonName' });
      if (isActive && !record.isActive) await demandSound(context, record);
      const set = {
        updatedAt: clock.now(),
        ...(uniqueName !== undefined && { uniqueName }),
        ...(isActive !== undefined && { isActive }),
      };
      return [{ op: 'update', kind: 'issuingCa', id: record.id, set }];
    },
    remove: (record) => removal(context, record),
    async removed({ key }) {
      if (key && !key.found) await context.keyStores.get(key.store)?.remove(key.id);
    },
  });

  async function setActive(principal: Principal, id: number, isActive: boolean): Promise<IssuingCa> {
    demand(principal, 'cas.write');
    const record = await find(id);
    if (isActive) await demandSound(context, record);
    if (record.isActive !== isActive) {
      const action = isActive ? 'issuingCa.activate' : 'issuingCa.deactivate';
      await store.commit([
        { op: 'update', kind: 'issuingCa', id, set: { isActive, updatedAt: clock.now() } },
        audit(context, principal.actor, { action, object: `issuingCa:${id}` }),
      ]);
      context.configuration.expire();
    }
    return find(id);
  }

  return {
    ...collection,
    async create(principal, input) {
      demand(principal, 'cas.write');
      const id = await makeCa(context, input, principal.actor);
      await crls.generateMissing(principal.actor);
      await linkRoots(context, principal.actor);
      return find(id);
    },
    activate: (principal, id) => setActive(principal, id, true),
    deactivate: (principal, id) => setActive(principal, id, false),
    async links(principal, id) {
      demand(principal, 'cas.read');
      await find(id);
      return linksAbove(await context.configuration.current(), id);
    },
    hierarchy: (principal) => caHierarchy(context, principal),
    async endings(principal) {
      demand(principal, 'cas.read');
      const { caWarningDays } = await currentSettings(store);
      return caEndings(await context.configuration.current(), clock.now(), caWarningDays);
    },
    keyStores: (principal) => keyStoreChoices(context, principal),
    issuers: (principal) => configuredIssuers(context, principal),
    async crl(principal, id) {
      demand(principal, 'crls.read');
      await find(id);
      return crls.find(id);
    },
    async generateCrl(principal, id) {
      demand(principal, 'crls.generate');
      return crls.generate(id, principal.actor);
    },
  };
}

/** Checks that the CA's certificate is valid, so that its signatures are of use. Faults: conflict. */
async function demandSound(context: Dependencies, { certificate }: IssuingCa): Promise<void> {
  const parsed = parseCertificate(certificate);
  if (hasExpired(parsed.notAfter, context.clock.now()))
    throw new Fault('conflict', 'the certificate of this CA has expired', { id: 'certificate_expired' });
  const configuration = await context.configuration.current();
  const own = await findIssued(context.store, configuration, parsed);
  if (own && own.status !== 'good')
    throw new Fault('conflict', 'the certificate of this CA is revoked', { id: 'certificate_revoked' });
  const shortcoming = caShortcoming(configuration.security, parsed);
  if (shortcoming) throw new Fault('conflict', shortcoming, { id: 'security_level' });
}

const mostCounted = 1000;

/**
 * Returns the writes that delete a CA; for a root, the record of its own certificate is deleted too. The store refuses
 * if other records refer to the CA.
 */
async function removal(
  { store }: Pick<Ports, 'store'>,
  { id, certificate }: IssuingCa,
): Promise<readonly Write[]> {
  // A CA with an unreadable certificate has no serial number to search for; it can be deleted if nothing refers to it.
  const serialNumber = serialNumberOf(certificate);
  const own =
    serialNumber === undefined ? undefined : await store.find('certificate', { ca: id, serialNumber });
  const known = await store.count('certificate', [{ field: 'ca', is: 'equal', value: id }], mostCounted);
  const issued = known - (own ? 1 : 0);
  if (issued > 0) {
    const count = known === mostCounted ? `${issued} or more` : issued;
    throw new Fault('conflict', `this CA has issued ${count} certificate${issued === 1 ? '' : 's'}`, {
      id: 'ca_has_issued',
      values: { certificates: count },
    });
  }
  return [
    ...(own ? ([{ op: 'delete', kind: 'certificate', id: own.id }] as const) : []),
    { op: 'delete', kind: 'issuingCa', id },
  ];
}

function serialNumberOf(certificate: Uint8Array): string | undefined {
  try {
    return parseCertificate(certificate).serialNumber;
  } catch {
    return undefined;
  }
}
