import type { Principal } from '../access/principal.ts';
import type { AuditAction } from '../audit/actions.ts';
import { audit } from '../audit/record.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Kind, Records, Write } from '../ports/store.ts';
import { secretContext } from '../security/secrets.ts';
import { webhookSecretContext } from '../webhooks/receiver.ts';

type Dependencies = Pick<Ports, 'store' | 'vault'>;

/** A field with a secret that the vault has encrypted. */
interface SealedField {
  readonly kind: Kind;
  readonly field: string;
  /** Returns the context of the secret; undefined for a record without one. */
  context(record: never): string | undefined;
}

const sealedField = <K extends Kind>(
  kind: K,
  field: keyof Records[K] & string,
  context: (record: Records[K]) => string | undefined,
): SealedField => ({ kind, field, context });

/** All secrets in the store except the anchors of the audit trail, because events never change. */
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
 * Encrypts all secrets in the store with the current master key, in passes until none is left, because other instances
 * may add some meanwhile. Returns their number. Faults: internal for a secret that no key decrypts; conflict if other
 * instances keep using an earlier key.
 */
async function resealStore(context: Dependencies): Promise<number> {
  let count = 0;
  for (let pass = 0; pass < mostPasses; pass++) {
    let found = 0;
    for (const sealed of sealedFields) found += await resealField(context, sealed);
    if (found === 0) return count;
    count += found;
  }
  throw new Fault('conflict', 'other gateways still encrypt secrets with the earlier master key', {
    hint: 'stop them, or give them the new key (secrets rotate --prepare)',
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
  // Guarded, so that a secret that is changed concurrently is not overwritten.
  const write = { op: 'update', kind, id, where: { [field]: value }, set: { [field]: again }, quiet: true };
  return [write as unknown as Write];
}

/**
 * Commits all writes together or, if one of the secrets was changed concurrently, each separately; the next pass
 * handles the changed one. Returns the number of writes.
 */
async function commitAll({ store }: Dependencies, writes: readonly Write[]): Promise<number> {
  const passing = (error: unknown): number => {
    if (error instanceof Fault && error.code === 'conflict') return 0;
    throw error;
  };
  const all = await store.commit(writes).then(() => writes.length, passing);
  if (all > 0) return all;
  let count = 0;
  for (const write of writes) count += await store.commit([write]).then(() => 1, passing);
  // Not zero: a pass in which every secret was changed concurrently is not the last.
  return Math.max(1, count);
}

/**
 * Encrypts all stored secrets with the current master key: keys, credentials for upstream CAs, PINs, and secrets in the
 * store. Can be restarted after an interruption at any point. Begin and end are audited. Returns the number of secrets.
 */
export async function rotateSecrets(
  context: Dependencies & Pick<Ports, 'clock' | 'issuers' | 'keyStores'>,
  { actor }: Principal,
): Promise<number> {
  const { store, keyStores, issuers } = context;
  const note = (action: AuditAction, detail = {}): Promise<unknown> =>
    store.commit([audit(context, actor, { action, object: 'masterKey', detail })]);
  await note('secrets.rotationBegun');
  let secrets = 0;
  for (const holder of [...keyStores.values(), ...issuers.values()])
    secrets += (await holder.reseal?.()) ?? 0;
  secrets += await resealStore(context);
  await note('secrets.rotated', { secrets });
  return secrets;
}
