import { custodiansAfter } from '../access/custody.ts';
import type { Principal } from '../access/principal.ts';
import { audit } from '../audit/record.ts';
import type { Ports } from '../ports/ports.ts';
import type { Actor } from '../records/audit-event.ts';
import type { NoOnboardingConfig } from '../records/device.ts';
import { retried } from '../storage/commit.ts';

type ConfigKind = 'onboardingConfig' | 'noOnboardingConfig';

type Held = NoOnboardingConfig & { readonly id: number };

type Dependencies = Pick<Ports, 'clock' | 'store'>;

const mostIds = 100;
/** Records in one commit. */
const perCommit = 100;

/**
 * Makes the account a custodian of the configurations, whose secrets it is about to see. Writes nothing where it is one already.
 * Faults: those of a commit.
 */
export async function addCustodian(
  { store }: Dependencies,
  actor: Actor,
  kind: ConfigKind,
  configs: readonly Held[],
): Promise<void> {
  const ids = configs.filter((config) => custodiansAfter(config, actor)).map(({ id }) => id);
  for (let n = 0; n < ids.length; n += perCommit) {
    const where = [{ field: 'id', is: 'oneOf', value: ids.slice(n, n + perCommit) } as const];
    // Another account may become a custodian, or the configuration be deleted, at the same moment.
    await retried(async () => {
      const { records } = await store.list(kind, { where, limit: perCommit });
      const writes = records.flatMap((config) => {
        const custodians = custodiansAfter(config, actor);
        const guard = { custodians: config.custodians };
        return custodians
          ? ({ op: 'update', kind, id: config.id, where: guard, set: { custodians } } as const)
          : [];
      });
      if (writes.length > 0) await store.commit(writes);
    });
  }
}

/**
 * Records in the audit trail that an account reads the secrets of `object`. Await it before you show them, because a
 * person who has read them can act as the device. Faults: those of a commit.
 */
export async function recordSecretsRead(
  context: Dependencies,
  { actor }: Principal,
  object: string,
  detail: Readonly<Record<string, string | number>> = {},
): Promise<void> {
  await context.store.commit([audit(context, actor, { action: 'device.readSecrets', object, detail })]);
}

export const hasSecrets = ({ estPassword, cmpSharedSecret }: NoOnboardingConfig): boolean =>
  estPassword !== null || cmpSharedSecret !== null;

/** Records one event for several configurations, if the account sees any secret of them. */
export async function recordConfigsRead(
  context: Dependencies,
  principal: Principal,
  kind: ConfigKind,
  configs: readonly Held[],
): Promise<void> {
  if (!principal.permissions.has('devices.secrets')) return;
  const shown = configs.filter(hasSecrets);
  await addCustodian(context, principal.actor, kind, shown);
  const ids = shown.map(({ id }) => id);
  const [id] = ids;
  if (id === undefined) return;
  if (ids.length === 1) {
    const device = await context.store.find('device', { [kind]: id });
    return recordSecretsRead(context, principal, device ? `device:${device.id}` : `${kind}:${id}`);
  }
  const first = ids.slice(0, mostIds).join(' ');
  const configurations = ids.length > mostIds ? `${first} …` : first;
  await recordSecretsRead(context, principal, kind, { count: ids.length, configurations });
}
