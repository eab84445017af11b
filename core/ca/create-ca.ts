import type { Actor } from '../audit/event.ts';
import type { LoadedCa } from '../configuration.ts';
import { audit, type Context } from '../context.ts';
import { Fault } from '../fault.ts';
import type { Write } from '../ports/store.ts';
import type { KeyType } from '../x509/algorithm.ts';
import { fingerprint, subjectKeyIdentifierOf } from '../x509/certificate.ts';
import type { Extension } from '../x509/extension.ts';
import {
  authorityKeyIdentifierExtension,
  subjectKeyIdentifierExtension,
} from '../x509/extensions/identity.ts';
import {
  authorityInfoAccessExtension,
  crlDistributionPointsExtension,
} from '../x509/extensions/locations.ts';
import { basicConstraintsExtension, keyUsageExtension } from '../x509/extensions/usage.ts';
import { commonName, formatDistinguishedName, type Name } from '../x509/name.ts';
import { keyIdentifier, type PublicKey, readPublicKey } from '../x509/public-key.ts';
import { localIssuer } from './local-issuer.ts';
import { prepare } from './prepared.ts';
import { newSerial } from './serial.ts';
import { publicUrls } from './urls.ts';

export interface NewCa {
  readonly uniqueName: string;
  /** One of `issuingCaType`. */
  readonly type: number;
  readonly subject: Name;
  /** The key store (its name in the configuration) and what kind of key to make there. */
  readonly keyStore: string;
  readonly keyType: KeyType;
  /** Milliseconds; cut to the parent's. */
  readonly lifetime: number;
  /** Absent: no limit on the CAs below. */
  readonly pathLength?: number;
  /** The CA that signs it; absent for a root. */
  readonly parent?: LoadedCa;
}

const hour = 3_600_000;

/**
 * Makes a key and a CA certificate for it, and records both. The key is made first: one without a record is harmless,
 * a record without its key is not. The new CA's id. Faults: conflict (the name), badAlgorithm, unavailable.
 */
export async function createCa(context: Context, ca: NewCa, actor: Actor): Promise<number> {
  const keys = context.keyStores.get(ca.keyStore);
  if (!keys) throw new Fault('unavailable', `no key store called ${ca.keyStore} is configured`);
  const key = await keys.generate(ca.keyType, ca.uniqueName);
  const subjectKey = readPublicKey(key.spki);
  const { parent } = ca;
  const now = context.clock.now();
  // X.509 knows whole seconds only.
  const second = Math.floor(now / 1000) * 1000;
  const prepared = prepare({
    outcome: {
      subject: ca.subject,
      extensions: caExtensions(context, ca, subjectKey),
      notBefore: Math.max(second - hour, parent?.certificate.notBefore ?? 0),
      notAfter: Math.min(second + ca.lifetime, parent?.certificate.notAfter ?? Number.POSITIVE_INFINITY),
    },
    subjectKey,
    request: undefined,
    serial: newSerial(context.clock, context.entropy),
    issuerName: parent ? parent.certificate.subject : ca.subject,
    issuerKey: parent ? readPublicKey(parent.certificate.spki).type : subjectKey.type,
    issuer: parent?.certificate,
  });
  const issuer = parent ? parent.issuer : localIssuer(keys, key.id, []);
  const answer = await issuer.issue(prepared);
  if (answer.kind !== 'issued') throw new Fault('internal', 'a local issuer does not defer');
  const { certificate } = answer;
  const { template } = prepared;
  const writes: Write[] = [
    {
      op: 'insert',
      kind: 'issuingCa',
      values: {
        createdAt: now,
        updatedAt: now,
        uniqueName: ca.uniqueName,
        commonName: commonName(ca.subject) ?? ca.uniqueName,
        type: ca.type,
        isActive: true,
        certificate,
        chain: parent?.chain ?? [],
        key: { store: ca.keyStore, id: key.id },
        issuer: null,
        crlNumber: 0,
        lastCrlIssuedAt: null,
      },
    },
    {
      op: 'insert',
      kind: 'certificate',
      values: {
        createdAt: now,
        commonName: commonName(ca.subject) ?? ca.uniqueName,
        ca: parent ? parent.record.id : { ref: 0 },
        serialNumber: Buffer.from(template.serial).toString('hex').toUpperCase(),
        subject: formatDistinguishedName(ca.subject),
        notValidBefore: template.notBefore,
        notValidAfter: template.notAfter,
        fingerprint: fingerprint(certificate),
        der: certificate,
        status: 'good',
        revokedAt: null,
        revocationReason: null,
        invalidityDate: null,
        device: null,
        domain: null,
        profile: null,
        protocol: 'internal',
        hidden: false,
      },
    },
    audit(
      context,
      actor,
      { action: 'issuingCa.create', object: 'issuingCa', detail: { uniqueName: ca.uniqueName } },
      { ref: 0 },
    ),
  ];
  const [id] = await context.store.commit(writes);
  context.configuration.expire();
  return id!;
}

/** RFC 5280 §4.2.1: what a CA certificate has to say. */
function caExtensions(context: Context, ca: NewCa, subjectKey: PublicKey): readonly Extension[] {
  const { parent, pathLength } = ca;
  const issuerKey = parent ? readPublicKey(parent.certificate.spki) : subjectKey;
  const issuerKeyIdentifier =
    (parent && subjectKeyIdentifierOf(parent.certificate)) ?? keyIdentifier(issuerKey);
  const extensions = [
    basicConstraintsExtension({ ca: true, ...(pathLength !== undefined && { pathLength }) }),
    keyUsageExtension(['keyCertSign', 'cRLSign', 'digitalSignature']),
    subjectKeyIdentifierExtension(keyIdentifier(subjectKey)),
    authorityKeyIdentifierExtension(issuerKeyIdentifier),
  ];
  if (!parent) return extensions;
  const { crl, aia } = publicUrls(context.settings, parent.record.id);
  return [
    ...extensions,
    crlDistributionPointsExtension([crl]),
    authorityInfoAccessExtension({ caIssuers: [aia], ocsp: [] }),
  ];
}
