import type { Petition } from '../approvals/clearance.ts';
import { certificateContent, outcomeDigest } from '../approvals/content.ts';
import type { Matter } from '../approvals/rule.ts';
import type { LoadedCa, LoadedProfile } from '../configuration.ts';
import type { ProfileOutcome } from '../profiles/apply.ts';
import type { ProfileRequest } from '../profiles/request.ts';
import { formatDistinguishedName } from '../x509/name.ts';
import { requesterActor } from './admit.ts';
import { requestDigest, requesterKey } from './identity.ts';
import type { Ask } from './outcome.ts';
import type { Renewed } from './renewed.ts';
import type { Requester } from './requester.ts';

interface Enrolment {
  readonly requester: Requester;
  readonly ask: Ask;
  readonly matter: Matter;
  readonly profile: LoadedProfile;
  readonly renewed: Renewed | undefined;
  readonly requested: ProfileRequest;
  readonly ca: LoadedCa;
  /** What the profile makes of the request at a moment. */
  outcomeAt(now: number): ProfileOutcome;
}

/** A request for a certificate, as those see it who decide on it. */
export function petitionFor(enrolment: Enrolment): Petition {
  const { requester, ask, matter, profile, renewed, requested, ca, outcomeAt } = enrolment;
  const { operation, protocol, domain } = matter;
  const { subject, extensions, publicKey } = requested;
  const { exchange, request } = ask;
  const isKeyMadeHere = publicKey.spki.length === 0;
  const identity = {
    requester: requesterKey(requester),
    protocol,
    operation,
    domain: domain.id,
    profile: profile.record.id,
    renews: operation === 'renewal' ? (renewed?.record.id ?? null) : null,
    subject,
    extensions,
    key: isKeyMadeHere ? publicKey.type : publicKey,
  };
  return {
    digest: requestDigest(identity),
    requester: identity.requester,
    actor: requesterActor(requester),
    request,
    subject: (now) => formatDistinguishedName(outcomeAt(now).subject),
    outcomeDigest: (now) => outcomeDigest(ca, outcomeAt(now)),
    content: (now) => ({
      kind: 'certificate',
      certificate: certificateContent(requested, outcomeAt(now), ca),
    }),
    goesOn: exchange?.follows !== undefined,
    // A transaction remembers its answer; a key that was made here is given once.
    forgetful: exchange === undefined && !isKeyMadeHere,
  };
}
