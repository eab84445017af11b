/** Whose logins are counted together. The realms share no counters: a guess at a device does not lock out a user of that name. */
export type Realm = 'user' | 'device' | 'serviceAccount';

/** One try to sign in. */
export interface Attempt {
  readonly realm: Realm;
  readonly name: string;
  /** IP address. */
  readonly address: string;
}

/** What is counted of an attempt: texts that name a counter. */
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

/** The attempt as it is counted and kept: a bounded name, and of an IPv6 address the network, as a host has all of it. */
export const counted = ({ realm, name, address }: Attempt): Attempt => ({
  realm,
  name: storable(name.slice(0, longestName)),
  address: address.includes(':') ? network64(address) : address,
});

/** PostgreSQL keeps neither U+0000 nor half a surrogate pair; no account has either in its name. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd');

/** A failure as it is stored. */
export const failureText = ({ realm, name, address }: Attempt, isKnown: boolean): string =>
  `${realm} ${isKnown ? 'known' : 'unknown'} ${address} ${name}`;

/** Undefined for what another version has stored. */
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
  const zeros = address.includes('::') ? Array(Math.max(0, 8 - head.length - tail.length)).fill('0') : [];
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`;
}
