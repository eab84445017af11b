import type { LoadedProfile } from '../configuration/configuration.ts';
import type { EnrolmentRequest } from '../issuance/enrolment-request.ts';
import { domainCredentialProfile } from '../requester/admit.ts';
import type { CredentialKind, Requester } from '../requester/requester.ts';
import type { Renewed } from './renewed.ts';

/** `onBehalf`: a certificate for a device that the request names. */
export type Entitlement = 'certificate' | 'onBehalf' | 'renewal' | 'nothing';

/** What each kind of credential entitles to: the one table, for all protocols. */
export const entitlements: Record<
  CredentialKind,
  (
    requester: Requester,
    ask: EnrolmentRequest,
    profile: LoadedProfile,
    renewed: Renewed | undefined,
  ) => Entitlement
> = {
  // A secret stands for a device that has no certificate yet; it renews nothing.
  password: (_requester, ask) => (ask.operation === 'enrol' ? 'certificate' : 'nothing'),
  // For onboarding, and for nothing else.
  idevid: (_requester, ask, profile) =>
    ask.operation === 'enrol' && isDomainCredential(profile) ? 'certificate' : 'nothing',
  // A second domain credential is a renewal of the first, whatever the operation is called.
  domainCredential: (_requester, ask, profile, renewed) =>
    isOwnProfile(renewed, profile) ? 'renewal' : ask.operation === 'enrol' ? 'certificate' : 'nothing',
  issuedCertificate: (_requester, ask, profile, renewed) =>
    ask.operation === 'renew' && isOwnProfile(renewed, profile) ? 'renewal' : 'nothing',
  // For the devices of its domain; its own certificate too it only renews.
  registrationAuthority: (_requester, ask, profile, renewed) =>
    ask.operation === 'enrol' ? 'onBehalf' : isOwnProfile(renewed, profile) ? 'renewal' : 'nothing',
};

export const isDomainCredential = ({ record }: LoadedProfile): boolean =>
  record.uniqueName === domainCredentialProfile;

const isOwnProfile = (renewed: Renewed | undefined, profile: LoadedProfile): boolean =>
  renewed?.record.profile === profile.record.id;
