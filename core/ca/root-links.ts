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

/** The newest roots of one name that certify each other: keys change too rarely to need more. */
export const mostLinked = 4;

/** Issuer → subjects that need no further attempt until the configuration changes: they are linked, or cannot be. */
const settled = new WeakMap<LoadedCa, Set<number>>();

/**
 * Issues link certificates between roots of the same name: such a root is a new key of the same CA, and a client that
 * trusts one root must be able to trust the other. Roots of different names are different CAs and are not linked. A
 * failure is only logged, because nothing else depends on the links.
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
        // Two roots with the same key, as after a renewal, need no link.
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
    // A revoked link is not issued again.
    const links = await linksBetween(context, issuer, subject);
    if (links.every(({ status }) => status === 'failed'))
      await certify(context, configuration, issuer, subject, actor);
  } catch (error) {
    context.log.error('the link certificate between two roots could not be issued', error, {
      issuer: issuer.record.uniqueName,
      subject: subject.record.uniqueName,
    });
  }
  known.add(subject.record.id);
}

const mostLooked = 100;

/** Returns all certificates that `issuer` issued for the name and the key of `subject`, the newest first. */
export async function linksBetween(
  { store }: Pick<Ports, 'store'>,
  issuer: LoadedCa,
  subject: LoadedCa,
): Promise<readonly StoredCertificate[]> {
  const { records } = await store.list('certificate', {
    where: [
      // Few certificates belong to no device, and an index finds them quickly.
      { field: 'device', is: 'equal', value: null },
      { field: 'ca', is: 'equal', value: issuer.record.id },
      { field: 'subject', is: 'equal', value: formatDistinguishedName(subject.certificate.subject) },
    ],
    limit: mostLooked,
  });
  return records.filter(({ der, status }) => {
    const isUnsigned = status === 'intended' || status === 'failed';
    try {
      const { spki } = isUnsigned ? parseTbsCertificate(der) : parseCertificate(der);
      return sameBytes(spki, subject.certificate.spki);
    } catch {
      // A damaged record is no link: another one is issued.
      return false;
    }
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

/** Extensions of a root that depend on its issuer. */
const ofPlace: ReadonlySet<string> = new Set([
  oid.authorityKeyIdentifier,
  oid.crlDistributionPoints,
  oid.authorityInfoAccess,
]);

/**
 * Returns the contents of the link certificate: the limits of the root that it certifies, and a validity period within
 * that of both roots (RFC 9810 §4.4.1).
 */
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
