import { systemActor } from '../audit/record.ts';
import { publicUrls } from '../configuration/ca-lookup.ts';
import type { Configuration, LoadedCa, WithConfiguration } from '../configuration/configuration.ts';
import { hex, sameBytes } from '../der/bytes.ts';
import { hasExpired } from '../der/time.ts';
import { internalIssuance, issue } from '../issuance/issue.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import type { Actor } from '../records/audit-event.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import {
  extension,
  parseCertificate,
  parseTbsCertificate,
  subjectKeyIdentifierOf,
} from '../x509/certificate.ts';
import {
  authorityKeyIdentifierExtension,
  subjectKeyIdentifierExtension,
} from '../x509/extensions/identity.ts';
import {
  authorityInfoAccessExtension,
  crlDistributionPointsExtension,
} from '../x509/extensions/locations.ts';
import { formatDistinguishedName } from '../x509/name.ts';
import { oid } from '../x509/oids.ts';
import { keyIdentifier, readPublicKey } from '../x509/public-key.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'store'>,
    WithConfiguration,
    WithSettings {}

/** Roots of one name that vouch for one another, the newest: nobody changes keys so often that there are more. */
export const mostLinked = 4;

/** Issuer → subjects for which there is a link, or no hope of one before the configuration changes. */
const settled = new WeakMap<LoadedCa, Set<number>>();

/**
 * Has each root certify the keys of those that have its very name: a root that is made under the name of another is its new key, and
 * whoever trusts one of them shall be able to trust the other. Roots of different names are different CAs, of which none
 * vouches for the other. What fails is told to the log, for nothing else depends on it.
 */
export async function linkRoots(context: Dependencies, actor: Actor = systemActor): Promise<void> {
  const configuration = await context.configuration.current();
  const now = context.clock.now();
  const roots = configuration.cas.filter(({ record, certificate }) => {
    return (
      record.key && record.isActive && record.chain.length === 0 && !hasExpired(certificate.notAfter, now)
    );
  });
  for (const namesakes of Map.groupBy(roots, ({ certificate }) => hex(certificate.subject.der)).values()) {
    if (namesakes.length < 2) continue;
    const newest = namesakes.sort(byAge).slice(0, mostLinked);
    for (const issuer of newest) {
      for (const subject of newest) {
        // Of one key, as after a renewal, whoever trusts one trusts the other already.
        const isOwnKey = sameBytes(issuer.certificate.spki, subject.certificate.spki);
        if (!isOwnKey) await demandLink(context, configuration, issuer, subject, actor);
      }
    }
  }
}

export const byAge = (a: LoadedCa, b: LoadedCa): number => b.record.id - a.record.id;

async function demandLink(
  context: Dependencies,
  configuration: Configuration,
  issuer: LoadedCa,
  subject: LoadedCa,
  actor: Actor,
): Promise<void> {
  const known = settled.get(issuer) ?? new Set();
  settled.set(issuer, known);
  if (known.has(subject.record.id)) return;
  try {
    // One that has been revoked is not made again.
    const links = await linksBetween(context, issuer, subject);
    if (links.every(({ status }) => status === 'failed'))
      await certify(context, configuration, issuer, subject, actor);
  } catch (error) {
    context.log.error('a root could not be linked with another of its name', error, {
      issuer: issuer.record.uniqueName,
      subject: subject.record.uniqueName,
    });
  }
  known.add(subject.record.id);
}

const mostLooked = 100;

/** What `issuer` has ever issued for the name and the key of `subject`, the newest first. */
export async function linksBetween(
  { store }: Pick<Ports, 'store'>,
  issuer: LoadedCa,
  subject: LoadedCa,
): Promise<readonly StoredCertificate[]> {
  const { records } = await store.list('certificate', {
    where: [
      // Few certificates are nobody's, and they are found by that: the others are not looked through.
      { field: 'device', is: 'equal', value: null },
      { field: 'ca', is: 'equal', value: issuer.record.id },
      { field: 'subject', is: 'equal', value: formatDistinguishedName(subject.certificate.subject) },
    ],
    limit: mostLooked,
  });
  return records.filter(({ der, status }) => {
    const isUnsigned = status === 'intended' || status === 'failed';
    const { spki } = isUnsigned ? parseTbsCertificate(der) : parseCertificate(der);
    return sameBytes(spki, subject.certificate.spki);
  });
}

async function certify(
  context: Dependencies,
  configuration: Configuration,
  issuer: LoadedCa,
  subject: LoadedCa,
  actor: Actor,
): Promise<void> {
  await issue(context, configuration, {
    ca: issuer,
    outcome: outcomeOf(context, issuer, subject),
    subjectKey: readPublicKey(subject.certificate.spki),
    ...internalIssuance,
    actor,
  });
}

/** What is said of a root by the place where it stands. */
const ofPlace: ReadonlySet<string> = new Set([
  oid.authorityKeyIdentifier,
  oid.crlDistributionPoints,
  oid.authorityInfoAccess,
]);

/** Within the limits of the root that it is about, and as long as both hold (RFC 9810 §4.4.1). */
function outcomeOf(
  { settings }: WithSettings,
  issuer: LoadedCa,
  { certificate }: LoadedCa,
): Pick<ProfileOutcome, 'subject' | 'extensions' | 'notBefore' | 'notAfter'> {
  const above = issuer.certificate;
  const { crl, aia } = publicUrls(settings, issuer.record.id);
  const identifier = (of: typeof certificate) =>
    subjectKeyIdentifierOf(of) ?? keyIdentifier(readPublicKey(of.spki));
  return {
    subject: certificate.subject,
    extensions: [
      ...certificate.extensions.filter((one) => !ofPlace.has(one.oid)),
      ...(extension(certificate, oid.subjectKeyIdentifier)
        ? []
        : [subjectKeyIdentifierExtension(identifier(certificate))]),
      authorityKeyIdentifierExtension(identifier(above)),
      crlDistributionPointsExtension([crl]),
      authorityInfoAccessExtension({ caIssuers: [aia], ocsp: [] }),
    ],
    notBefore: Math.max(above.notBefore, certificate.notBefore),
    notAfter: Math.min(above.notAfter, certificate.notAfter),
  };
}
