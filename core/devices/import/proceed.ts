import { audit, shorten } from '../../audit/record.ts';
import type { WithConfiguration } from '../../configuration/configuration.ts';
import { hex } from '../../der/bytes.ts';
import { toFault } from '../../fault.ts';
import type { Ports } from '../../ports/ports.ts';
import type { WithSettings } from '../../ports/settings.ts';
import { newHandle, type Write } from '../../ports/store.ts';
import type { DeviceImport, DeviceImportState, ImportRefusal } from '../../records/device-import.ts';
import { intendedUsage } from '../../records/domain.ts';
import { newSecret, secretContext } from '../../security/secrets.ts';
import { retried } from '../../storage/commit.ts';
import { newNoOnboardingConfig, notOnboarded } from '../configs.ts';
import { type ImportRow, type RowDevice, type RowNames, readRow } from './row.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'store' | 'vault'>,
    WithConfiguration,
    WithSettings {}

/** Seconds of the lease: if its holder dies, another instance continues after that. */
const leased = 15;
/** Milliseconds between two renewals of the lease. */
const renewed = 4000;
/** Milliseconds after which other work can run, and the process can stop. */
const slice = 3000;
/** A client that takes longer than this to send the table has disconnected. */
const longestReception = 3_600_000;
const perSweep = 20;

export const isEnded = (state: DeviceImportState): boolean =>
  state === 'done' || state === 'cancelled' || state === 'failed';

/**
 * Creates the devices of all waiting imports, part by part. Each part is one commit with its devices, its refusals and
 * the progress of the import, so that after a crash no device is created twice. Works on one instance at a time; on the
 * others it returns at once.
 */
export function proceedImports(context: Dependencies): () => Promise<void> {
  const { store, clock } = context;
  const holder = hex(context.entropy.bytes(16));
  let running: Promise<void> | undefined;

  async function proceed(): Promise<void> {
    const waiting = await unfinished(context);
    if (waiting.length === 0 || !(await store.lease('device-imports', holder, leased))) return;
    const until = clock.now() + slice;
    let renewedAt = clock.now();
    const isMine = async (): Promise<boolean> => {
      if (clock.now() > until) return false;
      if (clock.now() - renewedAt < renewed) return true;
      renewedAt = clock.now();
      return store.lease('device-imports', holder, leased);
    };
    try {
      for (const { id } of waiting) await carryOut(context, id, isMine);
    } finally {
      await store.lease('device-imports', holder, 0);
    }
  }

  return () => {
    running ??= proceed().finally(() => {
      running = undefined;
    });
    return running;
  };
}

async function unfinished({ store }: Pick<Ports, 'store'>): Promise<readonly DeviceImport[]> {
  const { records } = await store.list('deviceImport', {
    where: [{ field: 'finishedAt', is: 'equal', value: null }],
    order: { field: 'id', descending: false },
    limit: 100,
  });
  return records;
}

/** Processes an import as far as possible now. */
async function carryOut(context: Dependencies, id: number, isMine: () => Promise<boolean>): Promise<void> {
  while (await isMine()) {
    const record = await context.store.get('deviceImport', id);
    if (!record || record.finishedAt !== null) return;
    try {
      if ((await step(context, record)) === 'nothing to do') return;
    } catch (error) {
      const { code } = toFault(error);
      // A retry makes sense, but not immediately.
      if (code === 'unavailable' || code === 'conflict') throw error;
      context.log.error('a device import failed', error, { deviceImport: id });
      await fail(context, record, 'internal error');
    }
  }
}

async function step(context: Dependencies, record: DeviceImport): Promise<'done' | 'nothing to do'> {
  if (isEnded(record.state)) return (await sweep(context, record)) ? 'nothing to do' : 'done';
  if (record.state !== 'receiving') await takePart(context, record);
  else if (context.clock.now() - record.createdAt < longestReception) return 'nothing to do';
  else await fail(context, record, 'the upload was not completed');
  return 'done';
}

/** Deletes the remaining rows of an import that was cancelled or failed; returns whether none are left. */
async function sweep(
  { store, clock }: Pick<Ports, 'clock' | 'store'>,
  { id, part: next }: DeviceImport,
): Promise<boolean> {
  const { records } = await store.list('deviceImportPart', {
    where: [
      { field: 'deviceImport', is: 'equal', value: id },
      { field: 'number', is: 'greaterOrEqual', value: next },
    ],
    order: { field: 'number', descending: false },
    limit: perSweep,
  });
  const isLast = records.length < perSweep;
  await store.commit([
    ...records.map((part): Write => ({ op: 'delete', kind: 'deviceImportPart', id: part.id })),
    ...(isLast
      ? [{ op: 'update', kind: 'deviceImport', id, set: { finishedAt: clock.now() } } satisfies Write]
      : []),
  ]);
  return isLast;
}

async function fail(
  context: Pick<Ports, 'clock' | 'store'>,
  { id, state, actor }: DeviceImport,
  reason: string,
): Promise<void> {
  await context.store.commit([
    { op: 'update', kind: 'deviceImport', id, where: { state }, set: { state: 'failed', reason } },
    audit(context, actor, {
      action: 'deviceImport.fail',
      object: `deviceImport:${id}`,
      outcome: 'failed',
      detail: { reason },
    }),
  ]);
}

/** Creates the devices of the next part, or completes the import if there is none. */
async function takePart(context: Dependencies, { id, part: number }: DeviceImport): Promise<void> {
  const { store, vault } = context;
  const part = await store.find('deviceImportPart', { deviceImport: id, number });
  const rows: readonly ImportRow[] = part?.rows
    ? JSON.parse(Buffer.from(vault.open(part.rows, secretContext.deviceImportRows)).toString('utf8'))
    : [];
  await retried(async () => {
    // The import was cancelled, or another instance has processed the part.
    const record = await store.get('deviceImport', id);
    if (!record || isEnded(record.state) || record.part !== number) return;
    if (!part) return finish(context, record);
    const { devices, refusals } = await readable(context, rows);
    const refused = rows.length - devices.length;
    const { state, done } = record;
    const writes: Write[] = [
      {
        op: 'update',
        kind: 'deviceImport',
        id,
        where: { state, part: number },
        set: {
          state: 'running',
          part: number + 1,
          done: done + rows.length,
          created: record.created + devices.length,
          refused: record.refused + refused,
        },
      },
      refusals.length === 0
        ? { op: 'delete', kind: 'deviceImportPart', id: part.id }
        : { op: 'update', kind: 'deviceImportPart', id: part.id, set: { rows: null, refusals } },
    ];
    for (const device of devices) writes.push(...deviceWrites(context, record, device));
    await store.commit(writes);
  });
}

async function finish(context: Pick<Ports, 'clock' | 'store'>, record: DeviceImport): Promise<void> {
  const { id, state, part, actor, created, refused } = record;
  const set = { state: 'done', finishedAt: context.clock.now() } as const;
  await context.store.commit([
    { op: 'update', kind: 'deviceImport', id, where: { state, part }, set },
    audit(context, actor, {
      action: 'deviceImport.finish',
      object: `deviceImport:${id}`,
      detail: { created, refused },
    }),
  ]);
}

/** Returns the devices that the rows describe, without those that already exist. */
async function readable(
  context: Dependencies,
  rows: readonly ImportRow[],
): Promise<{ readonly devices: readonly RowDevice[]; readonly refusals: readonly ImportRefusal[] }> {
  const names = await rowNames(context);
  const read = rows.map((row) => [row.line, readRow(row, names)] as const);
  const wanted = read.flatMap(([, device]) => ('commonName' in device ? device.commonName : []));
  const { records } = await context.store.list('device', {
    where: [{ field: 'commonName', is: 'oneOf', value: wanted }],
    limit: 1000,
  });
  const taken = new Set(records.map(({ commonName }) => commonName));
  const devices: RowDevice[] = [];
  const refusals: ImportRefusal[] = [];
  for (const [line, device] of read) {
    if (!('commonName' in device)) refusals.push(...device);
    else if (taken.has(device.commonName))
      refusals.push({ line, field: 'common_name', message: 'a device with this name already exists' });
    else {
      taken.add(device.commonName);
      devices.push(device);
    }
  }
  return { devices, refusals };
}

async function rowNames(context: Dependencies): Promise<RowNames> {
  const { store, settings } = context;
  const configuration = await context.configuration.current();
  const { records } = await store.list('truststore', {
    where: [{ field: 'intendedUsage', is: 'equal', value: intendedUsage.idevid }],
    limit: 1000,
  });
  const truststores = new Map(records.map(({ uniqueName, id }) => [uniqueName, id]));
  return {
    domain: (name) => configuration.domainNamed(name)?.id,
    idevidTruststore: (name) => truststores.get(name),
    defaultDomain: configuration.domainNamed(settings.defaultDomain)?.id ?? null,
  };
}

function deviceWrites(
  context: Dependencies,
  { id: deviceImport, actor }: DeviceImport,
  { config, idevidTruststore, ...device }: RowDevice,
): readonly Write[] {
  const secrets = { estPassword: spelledSecret(context), cmpSharedSecret: spelledSecret(context) };
  const values = newNoOnboardingConfig(context, { ...secrets, ...config }, actor);
  // Many devices share a commit.
  const own = newHandle('configuration');
  const made = newHandle('device');
  return [
    idevidTruststore === undefined
      ? { op: 'insert', kind: 'noOnboardingConfig', values, as: own }
      : {
          op: 'insert',
          kind: 'onboardingConfig',
          values: { ...values, ...notOnboarded, idevidTruststore },
          as: own,
        },
    {
      op: 'insert',
      kind: 'device',
      as: made,
      values: {
        ...device,
        createdAt: values.createdAt,
        onboardingConfig: idevidTruststore === undefined ? null : own,
        noOnboardingConfig: idevidTruststore === undefined ? own : null,
        blockedAt: null,
        deviceImport,
        custodians: values.custodians,
      },
    },
    audit(
      context,
      actor,
      {
        action: 'device.create',
        object: 'device',
        detail: { commonName: shorten(device.commonName), deviceImport },
      },
      made,
    ),
  ];
}

/** Generates a secret that a spreadsheet does not take for a formula. */
function spelledSecret(context: Pick<Ports, 'entropy'>): string {
  for (;;) {
    const secret = newSecret(context.entropy);
    if (/^[A-Za-z0-9]/.test(secret)) return secret;
  }
}
