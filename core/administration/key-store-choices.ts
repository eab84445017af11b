import { demand, type Principal } from '../access/principal.ts';
import type { Ports } from '../ports/ports.ts';
import type { KeyType } from '../x509/algorithm.ts';

/** A configured key store. */
export interface KeyStoreChoice {
  readonly name: string;
  /** The key types that it can generate. */
  readonly keyTypes: 'all' | readonly KeyType[];
  /** Whether it can export keys. A CA of the type `localPkcs11` needs a key store that cannot. */
  readonly handsOutKeys: boolean;
  /** Whether it can import keys. */
  readonly takesKeys: boolean;
}

/** Lists the key stores in the order of the configuration. Faults: forbidden. */
export function keyStoreChoices(
  { keyStores }: Pick<Ports, 'keyStores'>,
  principal: Principal,
): readonly KeyStoreChoice[] {
  demand(principal, 'cas.read');
  return [...keyStores].map(([name, keys]) => ({
    name,
    keyTypes: keys.keyTypes,
    handsOutKeys: keys.export !== undefined,
    takesKeys: keys.import !== undefined,
  }));
}
