/** Kinds of accounts with separate counters: guesses at a device do not lock out a user of the same name. */
export type Realm = 'user' | 'device' | 'serviceAccount';

/** One attempt to sign in. */
export interface Attempt {
  readonly realm: Realm;
  readonly name: string;
  /** IP address. */
  readonly address: string;
}

/** The names of the counters of an attempt. */
export interface Subjects {
  readonly pair: string;
  readonly name: string;
  readonly address: string;
}

const longestName = 100;

export function subjectsOf({ realm, name, address }: Attempt): Subjects {
  return {
    pair: `pair ${realm} ${address} ${name}`,
    name: `name ${realm} ${name}`,
    address: `address ${realm} ${address}`,
  };
}

/**
 * Returns the attempt in the form in which it is counted and stored: a bounded name, and for IPv6 the network, because
 * one host controls all of it.
 */
export const counted = ({ realm, name, address }: Attempt): Attempt => ({
  realm,
  name: storable(name.slice(0, longestName)),
  address: address.includes(':') ? network64(address) : address,
});

/** PostgreSQL stores neither U+0000 nor a lone surrogate; no account has either in its name. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

/** Returns the stored form of a failure. */
export const failureText = ({ realm, name, address }: Attempt, isKnown: boolean): string =>
  `${realm} ${isKnown ? 'known' : 'unknown'} ${address} ${name}`;

/** Returns undefined for a form that only another version knows. */
export function readFailure(text: string): { attempt: Attempt; isKnown: boolean } | undefined {
  const match = /^(user|device|serviceAccount) (known|unknown) (\S*) (.*)$/s.exec(text);
  if (!match) return undefined;
  const [, realm, known, address, name] = match;
  return {
    attempt: { realm: realm as Realm, name: name!, address: address! },
    isKnown: known === 'known',
  };
}

function network64(address: string): string {
  const [left = '', right = ''] = address.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === '' ? [] : right.split(':');
  const length = address.includes('::') ? 8 - head.length - tail.length : 0;
  const zeros = Array.from({ length }, () => '0');
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`;
}
