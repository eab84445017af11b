import { demand, type Principal } from '../access/principal.ts';
import type { Issuer } from '../ports/issuer.ts';
import type { Ports } from '../ports/ports.ts';
import type { KeyType } from '../x509/algorithm.ts';

/** A key store that the configuration names. */
export interface KeyStoreChoice {
  readonly name: string;
  /** What keys it makes. */
  readonly keyTypes: 'all' | readonly KeyType[];
  /** A CA of the type `localPkcs11` needs one that does not. */
  readonly handsOutKeys: boolean;
  /** Whether keys from outside can be brought into it. */
  readonly takesKeys: boolean;
}

/** An upstream CA that the configuration names. */
export interface IssuerChoice {
  readonly name: string;
  /** It decides the type of CA; null: no CA can be made of it. */
  readonly protocol: NonNullable<Issuer['protocol']> | null;
}

/** In the order of the configuration. Faults: forbidden. */
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

/** In the order of the configuration. Faults: forbidden. */
export function issuerChoices(
  { issuers }: Pick<Ports, 'issuers'>,
  principal: Principal,
): readonly IssuerChoice[] {
  demand(principal, 'cas.read');
  return [...issuers].map(([name, { protocol = null }]) => ({ name, protocol }));
}
