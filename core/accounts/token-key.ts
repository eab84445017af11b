import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Setting } from '../records/setting.ts';
import { secretContext } from '../security/secrets.ts';

type Sealing = Pick<Ports, 'store' | 'vault'>;

const name = 'token-key';

/**
 * Returns the token key (32 octets); the first instance that needs it generates it. Faults: those of `demandMasterKey`.
 */
export async function readTokenKey(ports: Sealing & Pick<Ports, 'entropy'>): Promise<Uint8Array> {
  const { store, vault, entropy } = ports;
  const existing = await find(ports);
  if (existing) return existing;
  try {
    const value = vault.seal(entropy.bytes(32), secretContext.tokenKey);
    await store.commit([{ op: 'insert', kind: 'setting', values: { name, value } }]);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
  }
  return (await find(ports))!;
}

/** Returns whether this instance has the database's master key: another instance may have rotated it. */
export async function knowsMasterKey({ store, vault }: Sealing): Promise<boolean> {
  const setting = await store.find('setting', { name });
  return setting === undefined || opened(vault, setting) !== undefined;
}

/**
 * Rejects a master key that is not the database's: nobody else could open what is sealed under it. The token key, which
 * `bootstrap` creates first, shows the difference. Faults: internal, with a cause for the operator.
 */
export async function demandMasterKey(ports: Sealing): Promise<void> {
  await find(ports);
}

async function find({ store, vault }: Sealing): Promise<Uint8Array | undefined> {
  const setting = await store.find('setting', { name });
  if (!setting) return undefined;
  const key = opened(vault, setting);
  if (key) return key;
  const advice =
    'the master key of this data directory is not the one that the database was made with: copy master.json and master.key ' +
    'from a gateway of this database (with [secrets]: master.json, and the same key file or passphrase); after ' +
    '`postern secrets rotate` at another gateway, it is the new one';
  throw new Fault('internal', 'internal error', { cause: new Error(advice) });
}

function opened(vault: Sealing['vault'], { value }: Setting): Uint8Array | undefined {
  try {
    return vault.open(value, secretContext.tokenKey);
  } catch {
    return undefined;
  }
}
