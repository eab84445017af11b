import { Fault } from '../fault.ts';
import type { Prepared } from '../ports/issuer.ts';
import type { GatewaySettings } from '../ports/settings.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import { faultOf, type Shortcoming, shortcomings } from '../security/demands.ts';
import type { LevelRules } from '../security/levels.ts';
import { defaultSignatureAlgorithm, type KeyType } from '../x509/algorithm.ts';
import {
  basicConstraintsOf,
  buildTbsCertificate,
  type Certificate,
  type CertificateTemplate,
  parseTbsCertificate,
} from '../x509/certificate.ts';
import { lintBuilt } from '../x509/lint.ts';
import type { Name } from '../x509/name.ts';
import type { PublicKey } from '../x509/public-key.ts';
import type { VerifiedRequest } from '../x509/request.ts';
import { ownNameIn } from './own-names.ts';

export interface Preparation {
  readonly outcome: Pick<ProfileOutcome, 'subject' | 'extensions' | 'notBefore' | 'notAfter'> &
    Partial<Pick<ProfileOutcome, 'endless'>>;
  readonly subjectKey: PublicKey;
  readonly request: VerifiedRequest | undefined;
  readonly serial: Uint8Array;
  readonly issuerName: Name;
  readonly issuerKey: KeyType;
  /** The issuer's certificate; undefined for a root, which signs itself. */
  readonly issuer: Certificate | undefined;
  /** The certificates above the issuer, its own issuer first, as far as they are known. */
  readonly above?: readonly Certificate[];
  /** The demands of the security level. */
  readonly security: LevelRules;
  /** The names of this service, which no other certificate may contain; undefined when the service certifies itself. */
  readonly ownNames: GatewaySettings['serverNames'] | undefined;
}

/** Restores the result of an earlier `prepare` from its stored `tbs` and its request. */
export function restorePrepared(tbs: Uint8Array, request: VerifiedRequest | undefined): Prepared {
  const { signatureAlgorithm, ...read } = parseTbsCertificate(tbs);
  if (!signatureAlgorithm)
    throw new Fault('internal', 'the prepared certificate names no signature algorithm');
  const template: CertificateTemplate = { ...read, signatureAlgorithm };
  return { template, tbs, request } as Prepared;
}

/** A certificate before its signature, and all objections to it. */
export interface Draft {
  readonly template: CertificateTemplate;
  /** TBSCertificate, DER. */
  readonly tbs: Uint8Array;
  /** The certificate would bear a name of this service. */
  readonly ownName: Fault | undefined;
  /** Findings of the lint. */
  readonly findings: readonly string[];
  /** What the security level does not allow. */
  readonly shortcomings: readonly Shortcoming[];
}

/** Builds the TBSCertificate, and checks its names, RFC 5280 and the security level. */
export function draft(preparation: Omit<Preparation, 'request'>): Draft {
  const { outcome, subjectKey, serial, issuerName, issuerKey, issuer, above, security, ownNames } =
    preparation;
  const template: CertificateTemplate = {
    serial,
    signatureAlgorithm: defaultSignatureAlgorithm(issuerKey),
    issuer: issuerName,
    notBefore: outcome.notBefore,
    notAfter: outcome.notAfter,
    subject: outcome.subject,
    spki: subjectKey.spki,
    extensions: outcome.extensions,
  };
  const tbs = buildTbsCertificate(template);
  const judged = {
    holder: basicConstraintsOf(template)?.ca ? 'ca' : 'endEntity',
    key: subjectKey.type,
    notBefore: template.notBefore,
    notAfter: template.notAfter,
    endless: outcome.endless === true,
    signatureAlgorithm: template.signatureAlgorithm,
  } as const;
  return {
    template,
    tbs,
    ownName: ownNames && ownNameIn(ownNames, template),
    findings: lintBuilt(tbs, template, subjectKey, issuer, above),
    shortcomings: shortcomings(security, judged),
  };
}

/** Faults: forbidden for a name of this service; badCsr with the lint's findings; for the security level badAlgorithm, conflict. */
export function prepare(preparation: Preparation): Prepared {
  const { template, tbs, ownName, findings, shortcomings } = draft(preparation);
  if (ownName) throw ownName;
  if (findings.length > 0) {
    throw new Fault(
      'badCsr',
      `the certificate would not follow RFC 5280: ${findings.slice(0, 5).join('; ')}`,
    );
  }
  const [shortcoming] = shortcomings;
  if (shortcoming) throw faultOf(shortcoming);
  return { template, tbs, request: preparation.request } as Prepared;
}
