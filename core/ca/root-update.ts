import type { Configuration, LoadedCa } from '../configuration/configuration.ts';
import { sameBytes } from '../der/bytes.ts';
import { hasExpired } from '../der/time.ts';
import type { Ports } from '../ports/ports.ts';
import { byAge, linksBetween, mostLinked } from './root-links.ts';

/** What goes over from one root to the next of its name, DER (RFC 9810 §4.4). */
export interface RootUpdate {
  readonly newWithNew: Uint8Array;
  readonly newWithOld?: Uint8Array;
  readonly oldWithNew?: Uint8Array;
}

/** Roots of ours of the very name of one of them, with other keys; the newest first. */
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
 * What leads to a root, DER, from the other roots of its name: whoever trusts one of those alone can follow a path to what is below this
 * one (RFC 9810 §4.4). Nothing where there are no such roots, which is found without asking the store.
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
 * What takes the place of a root, DER: the newest of its name, which vouches for it, whether that is in use yet or not; else the one that is
 * in use, `present`, unless that is older or the same. Undefined when nothing does.
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

/** What leads from a root of ours to the one of ours that is in its place; undefined when either is none. */
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
