import { existingKey, type FoundKey, reference } from '../ca/create-ca.ts';
import type { Configuration, WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import { prepare } from '../issuance/prepare.ts';
import { newSerial } from '../issuance/serial.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { Actor } from '../records/audit-event.ts';
import type { UpstreamRequest } from '../records/upstream-request.ts';
import { requestDigest } from '../requester/request-identity.ts';
import { generateKey, type NamedKeyStore, withNewKey } from '../signing/key-stores.ts';
import { defaultSignatureAlgorithm, type KeyType } from '../x509/algorithm.ts';
import { type Certificate, subjectKeyIdentifierOf } from '../x509/certificate.ts';
import {
  authorityKeyIdentifierExtension,
  subjectKeyIdentifierExtension,
} from '../x509/extensions/identity.ts';
import { basicConstraintsExtension, keyUsageExtension } from '../x509/extensions/usage.ts';
import { demandUnfactored } from '../x509/factorable-rsa.ts';
import type { Name } from '../x509/name.ts';
import { keyIdentifier, readPublicKey } from '../x509/public-key.ts';
import { verifyPkcs10 } from '../x509/request.ts';
import { assembleCertificationRequest, buildCertificationRequestInfo } from '../x509/request-builder.ts';
import { advance } from './advance.ts';
import { issuerNamed, upstreamChain } from './chain.ts';
import type { WithCircuits } from './circuits.ts';
import { ask, deferral, joinable, newRequest } from './request-record.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'keyStores' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithSettings {}

/** A CA of ours that an upstream CA is to certify. */
export interface UpstreamCertifiedCa {
  readonly uniqueName: string;
  /** One of `issuingCaType`. */
  readonly type: number;
  readonly isActive: boolean;
  readonly subject: Name;
  readonly keyStore: NamedKeyStore;
  readonly key: { readonly type: KeyType } | { readonly id: string };
  /** The longest validity period that is accepted. Milliseconds. */
  readonly lifetime: number;
  readonly pathLength?: number;
  /** The upstream's name in the configuration. */
  readonly issuer: string;
}

const hour = 3_600_000;

/**
 * Returns the id of the CA once the upstream CA has certified its key. A repeated call with the same name continues the first request.
 * Faults: unavailable while the upstream CA decides or is unreachable; those of its refusal; malformed with `field`.
 */
export async function certifyCa(
  context: Dependencies,
  ca: UpstreamCertifiedCa,
  actor: Actor,
): Promise<number> {
  const configuration = await context.configuration.current();
  const digest = requestDigest({
    requester: `issuingCa ${ca.uniqueName}`,
    protocol: 'internal',
    operation: 'enrol',
    domain: 0,
    profile: 0,
    renews: null,
    subject: ca.subject,
    extensions: [],
    key: 'type' in ca.key ? ca.key.type : readPublicKey((await existingKey(ca.keyStore, ca.key.id)).spki),
  });
  const known = await joinable(context, digest);
  const request = known
    ? await advance(context, configuration, known)
    : await begun(context, configuration, ca, digest, actor);
  if (request.state !== 'issued') {
    const { retryAfter } = deferral(context, request);
    throw new Fault(
      'unavailable',
      'the upstream CA has not issued the certificate yet: Postern creates the CA when the certificate arrives',
      {
        retryAfter,
      },
    );
  }
  const made = await context.store.find('issuingCa', { uniqueName: ca.uniqueName });
  if (!made) throw new Fault('notFound', 'the CA was deleted');
  return made.id;
}

async function begun(
  context: Dependencies,
  configuration: Configuration,
  ca: UpstreamCertifiedCa,
  digest: string,
  actor: Actor,
): Promise<UpstreamRequest> {
  // These checks come before a key is made.
  issuerNamed(context, ca.issuer);
  context.circuits.demand(ca.issuer);
  const above = await upstreamChain(context, ca.issuer);
  const begin = (key: FoundKey): Promise<UpstreamRequest> =>
    ask(context, configuration, digest, () =>
      wantedOf(context, configuration, ca, above, key, digest, actor),
    );
  if ('id' in ca.key) return begin(await existingKey(ca.keyStore, ca.key.id));
  return withNewKey(ca.keyStore, await generateKey(ca.keyStore, ca.key.type, ca.uniqueName), begin);
}

async function wantedOf(
  context: Dependencies,
  { security }: Configuration,
  ca: UpstreamCertifiedCa,
  above: readonly Certificate[],
  key: FoundKey,
  digest: string,
  actor: Actor,
): Promise<Omit<UpstreamRequest, 'id'>> {
  const { uniqueName, type, isActive, subject, keyStore, pathLength, issuer } = ca;
  const { keys } = keyStore;
  const subjectKey = readPublicKey(key.spki);
  await demandUnfactored(subjectKey);
  const wished = [
    basicConstraintsExtension({ ca: true, ...(pathLength !== undefined && { pathLength }) }),
    keyUsageExtension(['keyCertSign', 'cRLSign', 'digitalSignature']),
  ];
  const algorithm = defaultSignatureAlgorithm(subjectKey.type);
  const info = buildCertificationRequestInfo(subject, key.spki, wished);
  const request = verifyPkcs10(
    assembleCertificationRequest(info, algorithm, await keys.sign(key.id, algorithm, info)),
  );
  // Any CA above may certify the key; the root's validity period limits all of them.
  const root = above.at(-1)!;
  const rootKey = readPublicKey(root.spki);
  const second = Math.floor(context.clock.now() / 1000) * 1000;
  const prepared = prepare({
    outcome: {
      subject,
      extensions: [
        ...wished,
        subjectKeyIdentifierExtension(keyIdentifier(subjectKey)),
        authorityKeyIdentifierExtension(subjectKeyIdentifierOf(root) ?? keyIdentifier(rootKey)),
      ],
      notBefore: Math.max(second - hour, root.notBefore),
      notAfter: Math.min(second + ca.lifetime, root.notAfter),
    },
    subjectKey,
    request,
    serial: newSerial(context.clock, context.entropy),
    issuerName: root.subject,
    issuerKey: rootKey.type,
    issuer: root,
    security,
    ownNames: undefined,
  });
  issuerNamed(context, issuer).check?.({ prepared, operation: 'enrol' });
  const purpose = { kind: 'ca', uniqueName, type, isActive, key: reference(keyStore, key) } as const;
  const nobody = { device: null, domain: null, profile: null, profileName: '', inventoryName: null };
  const about = {
    ...nobody,
    protocol: 'internal',
    actor,
    issuer,
    ca: null,
    operation: 'enrol',
    digest,
    purpose,
  } as const;
  return newRequest(context, about, prepared, request);
}
