import type { PathFailure } from '#core/x509/path/failure.ts';
import { certify, type Order, party } from './certify.ts';
import type { Chain } from './openssl.ts';

/** A rule of RFC 5280 that is obeyed or broken once. */
export interface Row extends Chain {
  readonly rule: string;
  readonly ours: 'ok' | PathFailure;
  /** The result of `openssl verify`: `ok` or its error. */
  readonly openssl: string;
  /** Why the two results differ; only if they do. */
  readonly why?: string;
  /** Milliseconds since 1970; default: `noon`. */
  readonly time?: number;
  readonly purpose?: 'clientAuth' | 'serverAuth';
  /** Serial numbers of revoked certificates. */
  readonly revoked?: readonly Uint8Array[];
  /** The same for OpenSSL: one CRL per issuer. */
  readonly crls?: readonly Uint8Array[];
}

export type Verdict = readonly [ours: Row['ours'], openssl: string, why?: string];

export const root = party('CN=Root CA,O=Plant');
export const middle = party('CN=Issuing CA,O=Plant');
export const lower = party('CN=Line CA,O=Plant');
export const device = party('CN=device-1,O=Plant');

export interface Orders {
  readonly root?: Order;
  readonly middle?: Order;
  readonly leaf?: Order;
}

/** Returns a root, one CA and a device certificate, each changed by its order. */
export function three(orders: Orders = {}): Chain {
  return {
    leaf: certify(device, middle, orders.leaf),
    intermediates: [certify(middle, root, { ca: true, ...orders.middle })],
    anchors: [certify(root, root, { ca: true, ...orders.root })],
  };
}

export interface DeepOrders extends Orders {
  readonly lower?: Order;
}

/** Like `three`, with a second CA. */
export function four(orders: DeepOrders = {}): Chain {
  return {
    leaf: certify(device, lower, orders.leaf),
    intermediates: [
      certify(middle, root, { ca: true, ...orders.middle }),
      certify(lower, middle, { ca: true, ...orders.lower }),
    ],
    anchors: [certify(root, root, { ca: true, ...orders.root })],
  };
}

export function row(rule: string, chain: Chain, [ours, openssl, why]: Verdict, more: Partial<Row> = {}): Row {
  return { rule, ...chain, ours, openssl, ...(why !== undefined && { why }), ...more };
}

/** Returns the bytes with one bit of the last octet, part of the signature, inverted. */
export function flipped(der: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(der);
  copy[copy.length - 1]! ^= 1;
  return copy;
}
