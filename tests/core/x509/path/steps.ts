import { certify, ecKey, type Order, type Party, party } from './certify.ts';
import type { Chain } from './openssl.ts';

/** A certificate of a chain. */
export interface Step extends Order {
  /** Distinguished name; default: a unique one. */
  readonly name?: string;
  /** The certificate has the name of its issuer and its own key (RFC 5280 §3.2: self-issued). */
  readonly self?: boolean;
}

const keys = Array.from({ length: 12 }, () => ecKey());

/** From the anchor to the leaf; all between them are CAs. */
export function chainOf(...steps: readonly Step[]): Chain {
  const parties: Party[] = [];
  for (const [i, { name, self }] of steps.entries()) {
    const key = keys[i]!;
    const above = parties[i - 1];
    const own = i === 0 ? 'CN=Trust Anchor' : i < steps.length - 1 ? `CN=CA ${i}` : 'CN=End Entity';
    parties.push(self && above ? { name: above.name, key } : party(name ?? own, key));
  }
  const ders = steps.map(({ name: _, self: __, ...order }, i) =>
    certify(parties[i]!, parties[i - 1] ?? parties[0]!, { ca: i < steps.length - 1, ...order }),
  );
  return { leaf: ders.at(-1)!, intermediates: ders.slice(1, -1), anchors: [ders[0]!] };
}
