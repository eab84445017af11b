import type { Configuration, LoadedCa } from '../configuration/configuration.ts';
import { sameBytes } from '../der/bytes.ts';
import { hasExpired } from '../der/time.ts';
import type { Ports } from '../ports/ports.ts';
import { byAge, linksBetween, mostLinked } from './root-links.ts';

/** The certificates for a root CA key update, DER (RFC 9810 §4.4). */
export interface RootUpdate {
  readonly newWithNew: Uint8Array;
  readonly newWithOld?: Uint8Array;
  readonly oldWithNew?: Uint8Array;
}

/** Returns our other roots with the same name and another key, the newest first. */
const namesakes = (configuration: Configuration, { certificate }: LoadedCa): readonly LoadedCa[] =>
  configuration.cas
    .filter(
      ({ record, certificate: other }) =>
        record.chain.length === 0 &&
        sameBytes(other.subject.der, certificate.subject.der) &&
        !sameBytes(other.spki, certificate.spki),
    )
    .sort(byAge)
    .slice(0, mostLinked);

const rootOf = (configuration: Configuration, certificate: Uint8Array): LoadedCa | undefined =>
  configuration.cas.find(({ record }) => sameBytes(record.certificate, certificate));

/**
 * Returns the link certificates to a root, DER, from the other roots of its name, so that a client that trusts only one
 * of those can validate paths below this root (RFC 9810 §4.4). Returns nothing, without a read of the store, if there
 * are no such roots.
 */
export async function linksTo(
  context: Pick<Ports, 'clock' | 'store'>,
  configuration: Configuration,
  root: Uint8Array,
): Promise<readonly Uint8Array[]> {
  const subject = rootOf(configuration, root);
  const issuers = subject ? namesakes(configuration, subject) : [];
  const links = await Promise.all(issuers.map((issuer) => validLink(context, issuer, subject!)));
  return links.filter((link) => link !== undefined);
}

/**
 * Returns the successor of a root, DER: the newest root of its name that is linked with it, even if it is not in use
 * yet; else the root in use, `present`, unless that is older or the same. Undefined if there is no successor.
 */
export async function successorOf(
  context: Pick<Ports, 'clock' | 'store'>,
  configuration: Configuration,
  root: Uint8Array,
  present: Uint8Array | undefined,
): Promise<Uint8Array | undefined> {
  const before = rootOf(configuration, root);
  if (!before) return undefined;
  const now = context.clock.now();
  const others = namesakes(configuration, before);
  for (const next of others) {
    const isUsable = next.record.key && next.record.isActive && !hasExpired(next.certificate.notAfter, now);
    if (byAge(before, next) <= 0 || !isUsable) continue;
    if (await validLink(context, before, next)) return next.record.certificate;
  }
  if (!present || sameBytes(present, root)) return undefined;
  const isOlder = others.some((one) => sameBytes(one.record.certificate, present) && byAge(before, one) < 0);
  return isOlder ? undefined : present;
}

/** Returns the root CA key update from one of our roots to its successor; undefined if there is none. */
export async function rootUpdate(
  context: Pick<Ports, 'clock' | 'store'>,
  configuration: Configuration,
  from: Uint8Array,
  to: Uint8Array,
): Promise<RootUpdate | undefined> {
  const before = rootOf(configuration, from);
  if (!before) return undefined;
  const present = rootOf(configuration, to);
  const [newWithOld, oldWithNew] = present
    ? [await validLink(context, before, present), await validLink(context, present, before)]
    : [];
  return { newWithNew: to, ...(newWithOld && { newWithOld }), ...(oldWithNew && { oldWithNew }) };
}

async function validLink(
  context: Pick<Ports, 'clock' | 'store'>,
  issuer: LoadedCa,
  subject: LoadedCa,
): Promise<Uint8Array | undefined> {
  const now = context.clock.now();
  const links = await linksBetween(context, issuer, subject);
  return links.find(({ status, notValidAfter }) => status === 'good' && !hasExpired(notValidAfter, now))?.der;
}
