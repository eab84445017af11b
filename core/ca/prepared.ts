import { Fault } from '../fault.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import { demandLevel, type Judged } from '../security/demands.ts';
import type { LevelRules } from '../security/levels.ts';
import { defaultSignatureAlgorithm, type KeyType } from '../x509/algorithm.ts';
import {
  basicConstraintsOf,
  buildTbsCertificate,
  type Certificate,
  type CertificateTemplate,
  parseTbsCertificate,
} from '../x509/certificate.ts';
import { lint } from '../x509/lint.ts';
import type { Name } from '../x509/name.ts';
import type { PublicKey } from '../x509/public-key.ts';
import type { VerifiedRequest } from '../x509/request.ts';

declare const prepared: unique symbol;

/**
 * A certificate to be: made from a profile, linted, with its serial number. Only `prepare` mints it (and `recall`, from what it
 * minted), and an issuer takes nothing else; what our own CA signs is `tbs`, byte for byte.
 */
export interface Prepared {
  readonly template: CertificateTemplate;
  /** TBSCertificate, DER. */
  readonly tbs: Uint8Array;
  /** The request that it answers; absent for keys that were made here. */
  readonly request: VerifiedRequest | undefined;
  readonly [prepared]: true;
}

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
  /** What the security level of the service demands. */
  readonly security: LevelRules;
}

/** What `prepare` made before and the store has kept: its `tbs`, and the request that it answers. */
export function recall(tbs: Uint8Array, request: VerifiedRequest | undefined): Prepared {
  const { signatureAlgorithm, ...read } = parseTbsCertificate(tbs);
  if (!signatureAlgorithm) throw new Fault('internal', 'what was prepared names no signature algorithm');
  const template: CertificateTemplate = { ...read, signatureAlgorithm };
  return { template, tbs, request } as Prepared;
}

/**
 * Builds the TBSCertificate, lints it and holds it against the security level. Faults: badCsr with the lint's findings; those of
 * `demandLevel`.
 */
export function prepare(preparation: Preparation): Prepared {
  const { outcome, subjectKey, request, serial, issuerName, issuerKey, issuer, security } = preparation;
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
  const findings = lint(tbs, issuer);
  if (findings.length > 0) {
    throw new Fault(
      'badCsr',
      `the certificate would not follow RFC 5280: ${findings.slice(0, 5).join('; ')}`,
    );
  }
  demandLevel(security, judgedOf(template, subjectKey.type, outcome.endless));
  return { template, tbs, request } as Prepared;
}

/** What a security level looks at in a certificate to be. */
const judgedOf = (template: CertificateTemplate, key: KeyType, endless = false): Judged => ({
  holder: basicConstraintsOf(template)?.ca ? 'ca' : 'endEntity',
  key,
  notBefore: template.notBefore,
  notAfter: template.notAfter,
  endless,
  signatureAlgorithm: template.signatureAlgorithm,
});
