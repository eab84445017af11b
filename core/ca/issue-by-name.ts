import type { Actor } from '../audit/event.ts';
import type { Configuration, LoadedProfile } from '../configuration.ts';
import type { Context } from '../context.ts';
import type { Domain } from '../domains/domain.ts';
import { resolveCa, resolveDomain } from '../enrolment/target.ts';
import { atField, Fault } from '../fault.ts';
import type { KeyReference } from '../ports/keys.ts';
import { commonName } from '../x509/name.ts';
import { type VerifiedRequest, verifyPkcs10 } from '../x509/request.ts';
import type { CertificateInput } from './certificates.ts';
import { issue } from './issuance.ts';
import { generateKey, keyStoreThat, withNewKey } from './keys.ts';
import { requestFor, standIn } from './own-credentials.ts';
import { publicUrls } from './urls.ts';

const usualProfile = 'tls_client';

/** What an administrator asks for without a device; the certificate's id. Faults: malformed with `field`, unavailable. */
export async function issueByName(context: Context, input: CertificateInput, actor: Actor): Promise<number> {
  const { csr } = input;
  if (csr) {
    if (input.keyType) throw new Fault('malformed', 'the request has a key', { field: 'keyType' });
    try {
      const request = verifyPkcs10(csr);
      return await certify(context, input, request, commonName(request.subject), undefined, actor);
    } catch (error) {
      throw atField(error, 'csr');
    }
  }
  const keyStore = keyStoreThat(
    context,
    'export',
    'no key store is configured that hands out keys: add one with plugin = "keyfile"',
  );
  try {
    const key = await generateKey(keyStore, input.keyType ?? 'p-256', input.commonName);
    return await withNewKey(keyStore, key, async () => {
      const request = await requestFor(keyStore.keys, key, input.commonName, []);
      const reference = { store: keyStore.name, id: key.id };
      return certify(context, input, request, input.commonName, reference, actor);
    });
  } catch (error) {
    const aboutKey = error instanceof Fault && error.code === 'badAlgorithm';
    throw atField(error, aboutKey ? 'keyType' : 'commonName');
  }
}

/** `name`: what the profile is to take for the device's name: that which is asked for. */
async function certify(
  context: Context,
  input: CertificateInput,
  request: VerifiedRequest,
  name: string | undefined,
  held: KeyReference | undefined,
  actor: Actor,
): Promise<number> {
  const configuration = await context.configuration.current();
  const domain = domainOf(context, configuration, input.domain);
  const { record, compiled } = profileOf(configuration, domain, input.profile);
  const ca = resolveCa(configuration, domain);
  const outcome = compiled.apply({
    request,
    device: name === undefined ? undefined : standIn(name),
    domain,
    now: context.clock.now(),
    issuer: ca.certificate,
    urls: publicUrls(context.settings, ca.record.id),
  });
  const { id } = await issue(context, {
    ca,
    outcome,
    subjectKey: request.publicKey,
    request,
    device: null,
    domain: domain.id,
    profile: record.id,
    profileName: record.uniqueName,
    protocol: 'management',
    actor,
    inventoryName: input.commonName,
    alongside: () =>
      held
        ? [
            {
              op: 'insert',
              kind: 'certificateKey',
              values: { createdAt: context.clock.now(), certificate: { ref: 0 }, key: held },
            },
          ]
        : [],
  });
  return id;
}

function domainOf(context: Context, configuration: Configuration, id: number | undefined): Domain {
  if (id === undefined) return resolveDomain(configuration, undefined, context.settings.defaultDomain);
  const domain = configuration.domain(id);
  if (!domain) throw new Fault('malformed', 'there is no such domain', { field: 'domain' });
  return domain;
}

/** Only what the domain offers. Faults: malformed with field `certProfile`. */
function profileOf(
  configuration: Configuration,
  { uniqueName, profiles }: Domain,
  id: number | undefined,
): LoadedProfile {
  const offered = profiles.flatMap(({ profile }) => configuration.profile(profile) ?? []);
  const wanted =
    id === undefined
      ? (offered.find(({ record }) => record.uniqueName === usualProfile) ?? offered[0])
      : offered.find(({ record }) => record.id === id);
  if (wanted) return wanted;
  const detail =
    id === undefined || configuration.profile(id)
      ? `the domain ${uniqueName} does not offer ${id === undefined ? 'any profile' : 'this profile'}`
      : 'there is no such certificate profile';
  throw new Fault('malformed', detail, { field: 'certProfile' });
}
