import { Fault } from '../fault.ts';
import { type Certificate, extension, subjectKeyIdentifierOf } from '../x509/certificate.ts';
import { type Extension, shared } from '../x509/extension.ts';
import {
  authorityKeyIdentifierExtension,
  subjectKeyIdentifierExtension,
} from '../x509/extensions/identity.ts';
import { certificatePoliciesExtension } from '../x509/extensions/policies.ts';
import { basicConstraintsExtension, decodeBasicConstraints } from '../x509/extensions/usage.ts';
import { oid } from '../x509/oids.ts';
import { keyIdentifier, readPublicKey } from '../x509/public-key.ts';
import { type CustomRules, compileCustom, valueProblem } from './custom.ts';
import type { ProfileRules } from './language.ts';
import { compileAuthorityInfoAccess, compileCrlDistributionPoints, type Urls } from './locations.ts';
import { isUri } from './names.ts';
import { isOid } from './problems.ts';
import type { Others } from './subject.ts';
import type { Fields, ProfileRequest, Tools } from './template.ts';
import { compileExtendedKeyUsage, compileKeyUsage } from './usage.ts';
import type { Trace } from './values.ts';

type Written = NonNullable<ProfileRules['extensions']>;

/**
 * Returns all extensions of a certificate, in a fixed order. Faults: badCsr, badAlgorithm, malformed (a requested
 * extension).
 */
type ExtensionRules = (
  request: ProfileRequest,
  issuer: Certificate,
  urls: Urls,
  from: Fields,
  subjectAltName: Extension | undefined,
  trace?: Trace,
) => readonly Extension[];

/** Postern always generates these, whatever the request contains. */
const always: ReadonlySet<string> = new Set([
  oid.subjectAltName,
  oid.subjectKeyIdentifier,
  oid.authorityKeyIdentifier,
]);

/**
 * Extensions with their own members in the profile language, and extensions that bind others than the holder: a request
 * never brings these in, not even with `others: keep`. A device that named its own CRL could choose whether it is
 * revoked.
 */
const ownMembers: ReadonlySet<string> = new Set([
  ...always,
  oid.basicConstraints,
  oid.keyUsage,
  oid.extendedKeyUsage,
  oid.certificatePolicies,
  oid.crlDistributionPoints,
  oid.authorityInfoAccess,
]);
const onlyFixed: ReadonlySet<string> = new Set([
  oid.freshestCrl,
  oid.nameConstraints,
  oid.policyMappings,
  oid.policyConstraints,
  oid.inhibitAnyPolicy,
  oid.issuerAltName,
  oid.subjectInfoAccess,
  oid.ocspNoCheck,
]);

export function compileExtensions(written: Written, others: Others, tools: Tools): ExtensionRules {
  const { problems } = tools;
  const ca = written.basicConstraints?.ca ?? false;
  const { pathLength } = written.basicConstraints ?? {};
  if (pathLength !== undefined && !ca) {
    problems.add('extensions.basicConstraints.pathLength', 'is for a CA (ca: true) only');
  }
  const basicConstraints =
    written.basicConstraints &&
    shared(basicConstraintsExtension(pathLength === undefined ? { ca } : { ca, pathLength }));
  const keyUsage = compileKeyUsage(written.keyUsage, ca, tools);
  const extendedKeyUsage = compileExtendedKeyUsage(written.extendedKeyUsage, tools);
  const policies = compilePolicies(written.certificatePolicies, tools);
  const crlDistributionPoints = compileCrlDistributionPoints(written.crlDistributionPoints, tools);
  const authorityInfoAccess = compileAuthorityInfoAccess(written.authorityInfoAccess, tools);
  const custom = new Map<string, CustomRules>();
  for (const [type, rule] of Object.entries(written.custom ?? {})) {
    const field = `extensions.custom.${type}`;
    if (ownMembers.has(type)) problems.add(field, 'the profile language has a member for this extension');
    else if (onlyFixed.has(type) && !rule.fixed) problems.add(field, 'this extension can only be fixed');
    else custom.set(type, compileCustom(type, rule, tools));
  }
  const ruled = new Set([
    ...custom.keys(),
    ...(keyUsage ? [oid.keyUsage] : []),
    ...(extendedKeyUsage ? [oid.extendedKeyUsage] : []),
    ...(policies ? [oid.certificatePolicies] : []),
    ...(crlDistributionPoints ? [oid.crlDistributionPoints] : []),
    ...(authorityInfoAccess ? [oid.authorityInfoAccess] : []),
  ]);

  const customRules = [...custom];
  return (request, issuer, urls, from, subjectAltName, trace) => {
    const { type } = request.publicKey;
    let kept: readonly Extension[] = none;
    for (const one of request.extensions) {
      if (one.oid === oid.basicConstraints) checkBasicConstraints(one, ca);
      else if (!always.has(one.oid) && !ruled.has(one.oid) && keepOther(one, others, trace))
        kept = [...kept, one];
    }
    if (basicConstraints) {
      trace?.('extensions.basicConstraints', ca ? 'CA' : 'no CA', 'fixed by the profile');
    }
    const ski = subjectKeyIdentifierExtension(keyIdentifier(request.publicKey));
    trace?.('extensions.subjectKeyIdentifier', 'of the key', 'in every certificate (RFC 5280 §4.2.1.2)');
    trace?.('extensions.authorityKeyIdentifier', 'of the CA', 'in every certificate (RFC 5280 §4.2.1.1)');
    const made: Extension[] = [];
    add(made, basicConstraints);
    add(made, keyUsage?.(extension(request, oid.keyUsage)?.value, type, trace));
    add(made, extendedKeyUsage?.(extension(request, oid.extendedKeyUsage)?.value, type, trace));
    add(made, subjectAltName);
    add(made, ski);
    add(made, authorityKeyIdentifier(issuer));
    add(made, policies?.(trace));
    add(made, crlDistributionPoints?.(urls, trace));
    add(made, authorityInfoAccess?.(urls, trace));
    for (const [which, rule] of customRules) add(made, rule(extension(request, which)?.value, from, trace));
    for (const one of kept) made.push(one);
    return made;
  };
}

const none: readonly Extension[] = [];

function add(to: Extension[], one: Extension | undefined): void {
  if (one) to.push(one);
}

function checkBasicConstraints({ value }: Extension, ca: boolean): void {
  if (!ca && decodeBasicConstraints(value).ca) {
    throw new Fault(
      'badCsr',
      'extensions.basicConstraints: the request is for a CA certificate, which the profile does not allow',
    );
  }
}

function keepOther(one: Extension, others: Others, trace: Trace | undefined): boolean {
  const field = `extensions.${one.oid}`;
  if (others === 'refuse') {
    throw new Fault('badCsr', `${field}: the profile does not allow this extension`);
  }
  if (others === 'drop' || ownMembers.has(one.oid) || onlyFixed.has(one.oid)) {
    trace?.(field, '', 'omitted: the profile does not allow it');
    return false;
  }
  const wrong = valueProblem(one.value);
  if (wrong) throw new Fault('badCsr', `${field}: the value ${wrong}`);
  trace?.(field, 'as requested', 'the profile accepts values without a rule');
  return true;
}

function compilePolicies(written: Written['certificatePolicies'], { problems }: Tools) {
  if (!written) return undefined;
  const field = 'extensions.certificatePolicies';
  const oids = written.policies.map((policy) => policy.oid);
  // RFC 5280 §4.2.1.4
  if (new Set(oids).size < oids.length) problems.add(`${field}.policies`, 'a policy occurs twice');
  for (const { oid: policy, cps } of written.policies) {
    if (!isOid(policy)) problems.add(`${field}.policies`, `${policy} is not an OID`);
    if (cps !== undefined && !isUri(cps)) problems.add(`${field}.policies`, 'cps is not a URI');
  }
  if (!oids.every(isOid)) return undefined;
  const encoded = shared(
    certificatePoliciesExtension(
      written.policies.map((policy) => ({ oid: policy.oid, ...(policy.cps && { cps: [policy.cps] }) })),
      written.critical,
    ),
  );
  return (trace?: Trace): Extension => {
    trace?.(field, oids.join(', '), 'fixed by the profile');
    return encoded;
  };
}

const ofIssuers = new WeakMap<Certificate, Extension>();

/** Returns the issuer's subject key identifier as the authority key identifier (RFC 5280 §4.2.1.1). */
function authorityKeyIdentifier(issuer: Certificate): Extension {
  const known = ofIssuers.get(issuer);
  if (known) return known;
  const identifier = subjectKeyIdentifierOf(issuer) ?? keyIdentifier(readPublicKey(issuer.spki));
  const made = shared(authorityKeyIdentifierExtension(identifier));
  ofIssuers.set(issuer, made);
  return made;
}
