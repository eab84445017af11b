import { systemActor } from '../audit/record.ts';
import { findIssued } from '../configuration/ca-lookup.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import { credentialType } from '../records/credential.ts';
import { parseCertificate, subjectAltNamesOf } from '../x509/certificate.ts';
import { commonName } from '../x509/name.ts';
import { readPublicKey } from '../x509/public-key.ts';
import { newUniqueName, profileNameOf } from './credential-kinds.ts';
import { createOwnCredential } from './own-credentials.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'keyStores' | 'log' | 'store'>,
    WithConfiguration,
    WithSettings {}

/**
 * Replaces the active TLS server credential by a new one for the same names when a third of its validity period is
 * left, or while it is not valid yet. An imported certificate is not replaced: its owner has to do that. Call it on one
 * instance at a time.
 */
export async function renewTlsCredential(context: Dependencies): Promise<void> {
  const { store, clock, log } = context;
  const type = credentialType.tlsServer;
  const active = await store.find('credential', { type, isActive: true });
  if (!active) return;
  const certificate = parseCertificate(active.certificate);
  const { notBefore, notAfter, subject, spki } = certificate;
  // The certificate was issued while the clock was ahead, and no client accepts it yet.
  const isEarly = clock.now() < notBefore;
  if (!isEarly && clock.now() < notAfter - (notAfter - notBefore) / 3) return;
  const configuration = await context.configuration.current();
  const issued = await findIssued(store, configuration, certificate);
  if (!issued) {
    log.warn('the imported TLS server certificate expires soon: replace it', {
      until: new Date(notAfter).toISOString(),
    });
    return;
  }
  const profile = issued.profile === null ? undefined : configuration.profile(issued.profile);
  const wanted = {
    type,
    uniqueName: newUniqueName(context, type),
    profileName: profile?.record.uniqueName ?? profileNameOf(type),
    commonName: commonName(subject) ?? issued.commonName,
    names: subjectAltNamesOf(certificate),
    keyType: readPublicKey(spki).type,
    activate: true,
  };
  await createOwnCredential(context, wanted, systemActor).catch((error) =>
    log.error('the TLS server credential could not be renewed', error, { credential: active.id }),
  );
}
