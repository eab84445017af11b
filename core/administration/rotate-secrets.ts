import type { Principal } from '../access/principal.ts';
import { audit } from '../audit/record.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Kind, Records, Write } from '../ports/store.ts';
import { secretContext } from '../security/secrets.ts';
import { webhookSecretContext } from '../webhooks/receiver.ts';

type Dependencies = Pick<Ports, 'store' | 'vault'>;

/** A field of a kind that holds what the vault has sealed. */
interface SealedField {
  readonly kind: Kind;
  readonly field: string;
  /** Undefined for a record of the kind that has nothing sealed. */
  context(record: never): string | undefined;
}

const sealedField = <K extends Kind>(
  kind: K,
  field: keyof Records[K] & string,
  context: (record: Records[K]) => string | undefined,
): SealedField => ({ kind, field, context });

/** All that is sealed in the store, but for the anchors of the audit trail: events are never changed. */
const sealedFields: readonly SealedField[] = [
  sealedField('setting', 'value', ({ name }) => (name === 'token-key' ? secretContext.tokenKey : undefined)),
  ...(['onboardingConfig', 'noOnboardingConfig'] as const).flatMap((kind) => [
    sealedField(kind, 'estPassword', () => secretContext.estPassword),
    sealedField(kind, 'cmpSharedSecret', () => secretContext.cmpSharedSecret),
  ]),
  sealedField('deviceImportPart', 'rows', () => secretContext.deviceImportRows),
  sealedField('webhook', 'secret', webhookSecretContext),
];

const pageSize = 200;
const mostPasses = 100;

/**
 * Seals everything in the store under the current master key, in passes until one finds nothing to do: other instances may go on
 * writing. How many secrets that was. Faults: internal for what no key opens; conflict when others seal under an earlier key for ever.
 */
async function resealStore(context: Dependencies): Promise<number> {
  let count = 0;
  for (let pass = 0; pass < mostPasses; pass++) {
    let found = 0;
    for (const sealed of sealedFields) found += await resealField(context, sealed);
    if (found === 0) return count;
    count += found;
  }
  throw new Fault('conflict', 'other gateways go on sealing secrets under the earlier master key', {
    hint: 'stop them, or let them know the new key (secrets rotate --prepare)',
  });
}

async function resealField(context: Dependencies, sealed: SealedField): Promise<number> {
  const { store } = context;
  const { kind } = sealed;
  let count = 0;
  let after = 0;
  for (;;) {
    const { records } = await store.list(kind, {
      where: [{ field: 'id', is: 'greater', value: after }],
      order: { field: 'id', descending: false },
      limit: pageSize,
    });
    const writes = records.flatMap((record) => resealed(context, sealed, record));
    if (writes.length > 0) count += await commitAll(context, writes);
    if (records.length < pageSize) return count;
    after = records.at(-1)!.id;
  }
}

function resealed({ vault }: Dependencies, { kind, field, context }: SealedField, record: object): Write[] {
  const { id, [field]: value } = record as { readonly id: number; readonly [name: string]: unknown };
  const about = context(record as never);
  if (!(value instanceof Uint8Array) || about === undefined) return [];
  const again = vault.reseal(value, about);
  if (!again) return [];
  // As long as it is what was read: of a secret that is changed at this moment, the new one stays.
  const write = { op: 'update', kind, id, where: { [field]: value }, set: { [field]: again }, quiet: true };
  return [write as unknown as Write];
}

/** All at once; where one of them has changed meanwhile each for itself, and the next pass sees to that one. How many were written. */
async function commitAll({ store }: Dependencies, writes: readonly Write[]): Promise<number> {
  const passing = (error: unknown): number => {
    if (error instanceof Fault && error.code === 'conflict') return 0;
    throw error;
  };
  const all = await store.commit(writes).then(() => writes.length, passing);
  if (all > 0) return all;
  let count = 0;
  for (const write of writes) count += await store.commit([write]).then(() => 1, passing);
  // A pass that lost every race has not ended.
  return Math.max(1, count);
}

/**
 * Seals everything that is sealed at rest under the current master key: keys, credentials for upstream CAs, PINs and what is in the
 * store. Can be begun again after it was cut off at any point. Audited when it begins and when it has ended. How many secrets that was.
 */
export async function rotateSecrets(
  context: Dependencies & Pick<Ports, 'clock' | 'issuers' | 'keyStores'>,
  { actor }: Principal,
): Promise<number> {
  const { store, keyStores, issuers } = context;
  const note = (action: string, detail = {}): Promise<unknown> =>
    store.commit([audit(context, actor, { action, object: 'masterKey', detail })]);
  await note('secrets.rotationBegun');
  let secrets = 0;
  for (const holder of [...keyStores.values(), ...issuers.values()])
    secrets += (await holder.reseal?.()) ?? 0;
  secrets += await resealStore(context);
  await note('secrets.rotated', { secrets });
  return secrets;
}
