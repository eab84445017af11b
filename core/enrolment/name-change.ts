import { Fault } from '../fault.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import type { ProfileRequest } from '../profiles/template.ts';
import { subjectAltNamesOf } from '../x509/certificate.ts';
import { subjectAltNameExtension } from '../x509/extensions/identity.ts';
import { sameGeneralNames } from '../x509/general-name.ts';
import { sameName } from '../x509/name.ts';
import type { NameChange } from '../x509/name-change.ts';
import { oid } from '../x509/oids.ts';
import type { Renewed } from './renewed.ts';

export const onlyRenewals =
  'ChangeSubjectName is allowed only in renewals: a new certificate gets the names in its request';

/** Returns the request with the new names in place of the old ones. */
export function renamed(request: ProfileRequest, change: NameChange): ProfileRequest {
  const { subject = request.subject, subjectAltNames } = change;
  const { publicKey, extensions } = request;
  if (!subjectAltNames) return { ...request, subject };
  const others = extensions.filter(({ oid: type }) => type !== oid.subjectAltName);
  const own = subjectAltNameExtension(subjectAltNames);
  return { subject, publicKey, subjectAltNames, extensions: [...others, own] };
}

/** Checks that the profile issues exactly the new names, and keeps those that do not change. Faults: forbidden. */
export function demandChange(
  { subject, subjectAltNames }: NameChange,
  { certificate }: Renewed,
  outcome: ProfileOutcome,
): void {
  if (!sameName(subject ?? certificate.subject, outcome.subject)) {
    throw new Fault('forbidden', 'the certificate profile does not allow this change of the subject');
  }
  if (!sameGeneralNames(subjectAltNames ?? subjectAltNamesOf(certificate), subjectAltNamesOf(outcome))) {
    throw new Fault('forbidden', 'the certificate profile does not allow this change of the subjectAltName');
  }
}
