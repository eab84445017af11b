import { readExtraCerts } from '#adapters/wire/cmp/extra-certs.ts';
import type { SealedPkiMessage } from '#adapters/wire/cmp/message.ts';
import { readProtection } from '#adapters/wire/cmp/protection.ts';
import { sameBytes } from '#core/der/bytes.ts';
import { Fault, toFault } from '#core/fault.ts';
import { type Certificate, parseCertificate, subjectKeyIdentifierOf } from '#core/x509/certificate.ts';
import { factsOf } from '#core/x509/facts.ts';
import { type Name, sameName } from '#core/x509/name.ts';
import { oid } from '#core/x509/oids.ts';
import { validatePath } from '#core/x509/path.ts';
import { readPublicKey } from '#core/x509/public-key.ts';

/** The keys and certificates that authenticate a response of the upstream CA. Certificates in DER. */
export interface Trusted {
  /** The shared secret, if one is configured. */
  readonly secret?: Uint8Array | undefined;
  readonly anchors: readonly Uint8Array[];
  /** The pinned certificate of the upstream server: its key usage is not checked, and extraCerts need not contain it. */
  readonly server?: Uint8Array | undefined;
  /** A signer with this subject and a path to a trust anchor is accepted as the upstream CA. */
  readonly serverName?: Name | undefined;
}

/** Deviations from RFC 9483 that are tolerated. None of them accepts an invalid protection. */
export interface Tolerances {
  /** Accepts error messages without protection: a man in the middle can then make requests fail. */
  readonly unprotectedErrors: boolean;
  /** Accepts pkiConf without protection. */
  readonly unprotectedConfirmations: boolean;
  /** Accepts a senderKID that does not match the signer. */
  readonly anySenderKid: boolean;
  /** Accepts the signer's certificate at any position in extraCerts. */
  readonly anyCertificateOrder: boolean;
  /** Accepts a signer without id-kp-cmcCA and digitalSignature: then every certificate below a trust anchor can act as the upstream. */
  readonly anySigner: boolean;
}

const untrusted = (why: string, cause?: unknown): Fault =>
  new Fault('unavailable', `the response of the upstream CA is not trusted: ${why}`, { cause });

/**
 * Authenticates a message of the upstream CA: by the shared secret, or by a signer that has a path to a trust anchor and is
 * authorized to act for a CA (RFC 9483 §3.2, RFC 9480 §2.2). Faults: unavailable, since an attacker may have sent the message.
 */
export async function authenticate(
  message: SealedPkiMessage,
  trusted: Trusted,
  tolerances: Tolerances,
  now: number,
): Promise<void> {
  let protection: ReturnType<typeof readProtection>;
  try {
    protection = readProtection(message);
  } catch (error) {
    throw untrusted(toFault(error).detail, error);
  }
  switch (protection.kind) {
    case 'none': {
      const { bodyType } = message;
      if (bodyType === 'error' && tolerances.unprotectedErrors) return;
      if (bodyType === 'pkiConf' && tolerances.unprotectedConfirmations) return;
      throw untrusted(`a message of type ${bodyType} without protection`);
    }
    case 'mac':
      if (!trusted.secret) throw untrusted('it is protected by a MAC, but no shared secret is configured');
      if (!(await protection.verify(trusted.secret))) throw untrusted('its MAC is wrong');
      return;
    case 'signature': {
      const { signer, others } = signerOf(message, trusted, tolerances);
      if (!protection.verify(readPublicKey(signer.spki))) throw untrusted('its signature is wrong');
      demandTrust(signer, others, trusted, tolerances, now, message.bodyType === 'nested');
    }
  }
}

interface Signer {
  readonly signer: Certificate;
  readonly others: readonly Certificate[];
}

function signerOf(message: SealedPkiMessage, { server }: Trusted, tolerances: Tolerances): Signer {
  const { anyCertificateOrder, anySenderKid } = tolerances;
  try {
    if (!server && !anyCertificateOrder && !anySenderKid) return readExtraCerts(message);
    const known = server ? [parseCertificate(server)] : [];
    const along = message.extraCerts.map(parseCertificate);
    const { sender, senderKID } = message.header;
    const signer = [...known, ...(anyCertificateOrder ? along : along.slice(0, 1))].find((one) => {
      const identifier = subjectKeyIdentifierOf(one);
      return (
        sender.kind === 'directory' &&
        sameName(sender.value, one.subject) &&
        (anySenderKid || !senderKID || !identifier || sameBytes(senderKID, identifier))
      );
    });
    if (signer) return { signer, others: along };
  } catch (error) {
    throw untrusted(toFault(error).detail, error);
  }
  throw untrusted('extraCerts has no certificate for its sender');
}

function demandTrust(
  signer: Certificate,
  others: readonly Certificate[],
  { anchors, server, serverName }: Trusted,
  { anySigner }: Tolerances,
  now: number,
  wraps: boolean,
): void {
  const pinned = server !== undefined && sameBytes(server, signer.der);
  const path = validatePath(signer, {
    time: now,
    intermediates: others,
    anchors: pinned ? [signer] : anchors.map(parseCertificate),
  });
  if (!path.ok) throw untrusted(path.detail);
  const { basicConstraints, purposes, keyUsage } = factsOf(signer);
  if (serverName && !sameName(serverName, signer.subject))
    throw untrusted('its signer does not have the configured server_name');
  if (pinned || anySigner) return;
  const isCa = basicConstraints?.ca === true;
  // A nested message may be signed by a registration authority that only forwards the inner message.
  const speaks = purposes?.includes(oid.cmcCa) || (wraps && purposes?.includes(oid.cmcRa));
  if (!serverName && !isCa && !speaks)
    throw untrusted('its signer is not authorized to act for a CA (id-kp-cmcCA)');
  if (keyUsage && !keyUsage.includes('digitalSignature'))
    throw untrusted('the key usage of its signer lacks digitalSignature');
}
