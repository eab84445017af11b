import { demand, type Principal } from '../access/principal.ts';
import type { Issuer } from '../ports/issuer.ts';
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

/** A configured upstream CA. */
export interface IssuerChoice {
  readonly name: string;
  /** The protocol, which determines the type of CA; null: no CA can be created from it. */
  readonly protocol: NonNullable<Issuer['protocol']> | null;
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

/** Lists the upstream CAs in the order of the configuration. Faults: forbidden. */
export function issuerChoices(
  { issuers }: Pick<Ports, 'issuers'>,
  principal: Principal,
): readonly IssuerChoice[] {
  demand(principal, 'cas.read');
  return [...issuers].map(([name, { protocol = null }]) => ({ name, protocol }));
}
