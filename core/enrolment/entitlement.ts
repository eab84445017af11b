import type { LoadedProfile } from '../configuration/configuration.ts';
import type { EnrolmentRequest } from '../issuance/enrolment-request.ts';
import { domainCredentialProfile } from '../requester/admit.ts';
import type { CredentialKind, Requester } from '../requester/requester.ts';
import type { Renewed } from './renewed.ts';

/** What a requester may get. `onBehalf`: a certificate for a device that the request names. */
export type Entitlement = 'certificate' | 'onBehalf' | 'renewal' | 'nothing';

/** What each kind of credential entitles its holder to, over every protocol. */
export const entitlements: Record<
  CredentialKind,
  (
    requester: Requester,
    ask: EnrolmentRequest,
    profile: LoadedProfile,
    renewed: Renewed | undefined,
  ) => Entitlement
> = {
  // A shared secret is for a device without a certificate, so it cannot renew one.
  password: (_requester, ask) => (ask.operation === 'enrol' ? 'certificate' : 'nothing'),
  // An IDevID is for onboarding only.
  idevid: (_requester, ask, profile) =>
    ask.operation === 'enrol' && isDomainCredential(profile) ? 'certificate' : 'nothing',
  // A second domain credential renews the first, even when it is requested as a new one.
  domainCredential: (_requester, ask, profile, renewed) =>
    isOwnProfile(renewed, profile) ? 'renewal' : ask.operation === 'enrol' ? 'certificate' : 'nothing',
  issuedCertificate: (_requester, ask, profile, renewed) =>
    ask.operation === 'renew' && isOwnProfile(renewed, profile) ? 'renewal' : 'nothing',
  // A registration authority enrols devices of its domain. Its own certificate it can only renew.
  registrationAuthority: (_requester, ask, profile, renewed) =>
    ask.operation === 'enrol' ? 'onBehalf' : isOwnProfile(renewed, profile) ? 'renewal' : 'nothing',
};

export const isDomainCredential = ({ record }: LoadedProfile): boolean =>
  record.uniqueName === domainCredentialProfile;

const isOwnProfile = (renewed: Renewed | undefined, profile: LoadedProfile): boolean =>
  renewed?.record.profile === profile.record.id;
