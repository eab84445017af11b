import { serverNames } from '#core/issuance/own-names.ts';
import { shippedRoles } from '../access/permissions.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { audit, systemActor } from '../audit/record.ts';
import { createCa } from '../ca/create-ca.ts';
import { newUniqueName } from '../ca/credential-kinds.ts';
import type { Crls } from '../ca/crls.ts';
import { createOwnCredential } from '../ca/own-credentials.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { Fault, toFault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import { unsettledRestore } from '../ports/snapshot.ts';
import { newHandle, type Write } from '../ports/store.ts';
import { shippedProfiles } from '../profiles/shipped.ts';
import { credentialType } from '../records/credential.ts';
import { issuingCaType } from '../records/issuing-ca.ts';
import type { Setting } from '../records/setting.ts';
import { everyRecord } from '../storage/every-record.ts';
import { settingContent, settingWrite } from '../storage/setting-content.ts';
import { parseCertificate } from '../x509/certificate.ts';
import { attribute, buildName } from '../x509/name.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'keyStores' | 'log' | 'store'>,
    WithConfiguration,
    WithSettings {}

export interface BootstrapOptions {
  /** The password of the user `admin`; used only if that user is created. */
  readonly adminPassword: string;
  /** Names this instance, so that only one instance runs the bootstrap. */
  readonly holder: string;
}

export interface BootstrapResult {
  readonly adminCreated: boolean;
}

const year = 365.25 * 24 * 3_600_000;
const tries = 600;

/**
 * Performs the first start: creates the token key, roles, profiles, a root CA, an issuing CA below it, the default
 * domain, a TLS server credential and the user `admin`. Each step skips what already exists, so an interrupted
 * bootstrap continues where it stopped. Only one instance runs it; the others call `pause` and wait. Faults:
 * unavailable; internal if the master key does not match the database.
 */
export async function bootstrap(
  context: Dependencies,
  accounts: Accounts,
  crls: Pick<Crls, 'generateMissing'>,
  { adminPassword, holder }: BootstrapOptions,
  pause: () => Promise<void>,
): Promise<BootstrapResult> {
  if (await context.store.find('setting', { name: unsettledRestore })) {
    throw new Fault('conflict', 'a restore was interrupted: run postern restore again');
  }
  // This comes first and without the lease: if two instances start on one empty database with different master keys,
  // the second one writes nothing.
  await accounts.tokenKey();
  for (let n = 0; !(await context.store.lease('bootstrap', holder, 30)); n++) {
    if (n >= tries)
      throw new Fault('unavailable', 'another instance is starting and does not finish: check its log');
    await pause();
  }
  context.configuration.expire();
  await makeRoles(context);
  await makeProfiles(context);
  await makeCas(context);
  await crls.generateMissing(systemActor);
  await makeDefaultDomain(context);
  await makeTlsCredential(context);
  const adminCreated = await makeAdmin(context, accounts, adminPassword);
  await context.store.lease('bootstrap', holder, 0);
  return { adminCreated };
}

/** The names of the roles created here: if such a role is missing, it was deleted or renamed. */
interface RolesMade {
  readonly names: readonly string[];
}

const rolesMadeName = 'shipped-roles';

/**
 * Creates and updates the built-in roles. They follow each release until an administrator edits them. A deleted
 * built-in role is not recreated.
 */
async function makeRoles(context: Pick<Ports, 'clock' | 'store' | 'log'>): Promise<void> {
  await makeNewRoles(context);
  const { store } = context;
  for (const [uniqueName, role] of Object.entries(shippedRoles)) {
    const existing = await store.find('role', { uniqueName }).catch((error) => {
      if (toFault(error).code === 'unavailable') throw error;
      context.log.error('a built-in role cannot be read', error, { role: uniqueName });
    });
    if (!existing) continue;
    const { id, permissions } = existing;
    if (new Set(permissions).symmetricDifference(new Set(role.permissions)).size === 0) continue;
    if (await isChanged(context, id)) continue;
    const detail = { uniqueName, permissions: role.permissions.length };
    await store.commit([
      { op: 'update', kind: 'role', id, set: { permissions: role.permissions } },
      audit(context, systemActor, { action: 'role.ship', object: `role:${id}`, detail }),
    ]);
  }
}

async function makeNewRoles({ store, clock, log }: Pick<Ports, 'clock' | 'store' | 'log'>): Promise<void> {
  const setting = await store.find('setting', { name: rolesMadeName });
  const made = setting && rolesMade(setting, log);
  if (setting && !made) return;
  const names = made?.names ?? [];
  const fresh = Object.entries(shippedRoles).filter(([uniqueName]) => !names.includes(uniqueName));
  if (fresh.length === 0) return;
  const next: RolesMade = { names: [...names, ...fresh.map(([uniqueName]) => uniqueName)] };
  const value = Buffer.from(JSON.stringify(next));
  const writes = [settingWrite(rolesMadeName, setting, value, false)];
  for (const [uniqueName, role] of fresh) {
    if (await store.find('role', { uniqueName })) continue;
    writes.push({ op: 'insert', kind: 'role', values: { createdAt: clock.now(), uniqueName, ...role } });
  }
  await store.commit(writes);
}

/** Returns undefined if the record is damaged: then no role is recreated that an administrator may have deleted. */
function rolesMade(setting: Setting, log: Ports['log']): RolesMade | undefined {
  try {
    return settingContent<RolesMade>(setting, ({ names }) => Array.isArray(names));
  } catch (error) {
    log.error('the list of created roles cannot be read', error);
    return undefined;
  }
}

/** Returns whether an administrator ever changed or created a role, according to the audit trail. */
async function isChanged({ store }: Pick<Ports, 'store'>, role: number): Promise<boolean> {
  const where = [
    { field: 'object', is: 'equal', value: `role:${role}` },
    { field: 'action', is: 'oneOf', value: ['role.update', 'role.create'] },
  ] as const;
  return (await store.list('auditEvent', { where, limit: 1 })).records.length > 0;
}

async function makeProfiles(context: Dependencies): Promise<void> {
  const { store, clock } = context;
  if ((await store.count('profile', [], 1)) > 0) return;
  const writes = Object.entries(shippedProfiles).map(
    ([uniqueName, profile]): Write => ({
      op: 'insert',
      kind: 'profile',
      values: { createdAt: clock.now(), uniqueName, profile },
    }),
  );
  await store.commit([...writes, audit(context, systemActor, { action: 'profile.ship', object: '' })]);
  context.configuration.expire();
}

async function makeCas(context: Dependencies): Promise<void> {
  const keyStore = context.keyStores.keys().next().value!;
  const { store, entropy } = context;
  const { records, damaged } = await everyRecord(store, 'issuingCa');
  if (damaged.length > 0 || records.some(({ type }) => type === issuingCaType.autoGenerated)) return;
  let root = records.at(-1);
  if (root && root.type !== issuingCaType.autoGeneratedRoot) return;
  // Two installations must not have CAs of the same name, because a truststore would confuse them.
  const mark = root ? root.commonName.slice(-8) : Buffer.from(entropy.bytes(4)).toString('hex').toUpperCase();
  const name = (kind: string) =>
    buildName([[attribute('O', 'Postern')], [attribute('CN', `Postern ${kind} ${mark}`)]]);
  if (!root) {
    const wanted = {
      uniqueName: 'root',
      type: issuingCaType.autoGeneratedRoot,
      subject: name('Root CA'),
      keyStore,
      key: { type: 'p-384' },
      lifetime: 20 * year,
    } as const;
    root = await store.get('issuingCa', await createCa(context, wanted, systemActor));
  }
  const parent = (await context.configuration.current()).ca(root!.id);
  if (!parent) throw new Fault('unavailable', 'the root CA cannot be used');
  const wanted = {
    uniqueName: 'issuing',
    type: issuingCaType.autoGenerated,
    subject: name('Issuing CA'),
    keyStore,
    key: { type: 'p-256' },
    lifetime: 10 * year,
    pathLength: 0,
    parent,
  } as const;
  await createCa(context, wanted, systemActor);
}

const defaultDomain = newHandle('domain');

async function makeDefaultDomain(context: Dependencies): Promise<void> {
  const { store, clock, settings } = context;
  const uniqueName = settings.defaultDomain;
  if ((await store.count('domain', [{ field: 'uniqueName', is: 'equal', value: uniqueName }], 1)) > 0) return;
  const issuing = await store.find('issuingCa', { type: issuingCaType.autoGenerated });
  const { records } = await store.list('profile', { limit: 1000 });
  const profiles = records
    .filter((profile) => deviceProfiles.has(profile.uniqueName))
    .map(({ id }) => ({ profile: id, alias: null }));
  await store.commit([
    {
      op: 'insert',
      kind: 'domain',
      as: defaultDomain,
      values: { createdAt: clock.now(), uniqueName, issuingCa: issuing?.id ?? null, profiles },
    },
    audit(
      context,
      systemActor,
      { action: 'domain.create', object: 'domain', detail: { uniqueName } },
      defaultDomain,
    ),
  ]);
  context.configuration.expire();
}

/**
 * The profiles of the default domain: client certificates in the device's own name, and server certificates. Profiles
 * for client certificates in another name (OPC UA, where the name is the application's), CAs, IDevIDs, owner ids and
 * code signing have to be offered explicitly.
 */
const deviceProfiles: ReadonlySet<string> = new Set(['domain_credential', 'tls_client', 'tls_server']);

async function makeTlsCredential(context: Dependencies): Promise<void> {
  const type = credentialType.tlsServer;
  if (await isServable(context)) return;
  const wanted = {
    type,
    uniqueName: newUniqueName(context, type),
    profileName: 'tls_server',
    commonName: context.settings.serverNames[0] ?? 'localhost',
    names: serverNames(context.settings),
    keyType: 'p-256',
    activate: true,
  } as const;
  await createOwnCredential(context, wanted, systemActor);
}

/**
 * Returns whether there is a readable TLS server credential. An unreadable credential would prevent the listener from
 * starting, so it is replaced.
 */
async function isServable({ store, log }: Pick<Ports, 'store' | 'log'>): Promise<boolean> {
  try {
    const active = await store.find('credential', { type: credentialType.tlsServer, isActive: true });
    if (active) parseCertificate(active.certificate);
    return active !== undefined;
  } catch (error) {
    if (toFault(error).code === 'unavailable') throw error;
    log.error('the TLS server credential cannot be read: a new one is issued', error);
    return false;
  }
}

async function makeAdmin(
  { store }: Pick<Ports, 'store'>,
  accounts: Accounts,
  password: string,
): Promise<boolean> {
  if ((await store.count('user', [], 1)) > 0) return false;
  await accounts.createUser('admin', password, 'Admin', systemActor);
  return true;
}
