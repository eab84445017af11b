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

/** By what an answer is known to be the upstream's. Certificates in DER. */
export interface Trusted {
  /** The secret that we share, if we do. */
  readonly secret?: Uint8Array | undefined;
  readonly anchors: readonly Uint8Array[];
  /** The upstream's own certificate: it needs no further sign of what it is for, and need not come along. */
  readonly server?: Uint8Array | undefined;
  /** Whoever has this name below an anchor is the upstream. */
  readonly serverName?: Name | undefined;
}

/** What is let pass, as not every upstream follows RFC 9483. Nothing of it makes a wrong protection right. */
export interface Leniency {
  /** Errors without protection: whoever is in between can refuse requests then. */
  readonly unprotectedErrors: boolean;
  /** pkiConf without protection. */
  readonly unprotectedConfirmations: boolean;
  /** A senderKID that is not the signer's. */
  readonly anySenderKid: boolean;
  /** The signer's certificate may stand anywhere in extraCerts. */
  readonly anyCertificateOrder: boolean;
  /** The signer's certificate may lack id-kp-cmcCA and digitalSignature: then any certificate below an anchor is the upstream. */
  readonly anySigner: boolean;
}

const untrusted = (why: string, cause?: unknown): Fault =>
  new Fault('unavailable', `the response of the upstream CA is not trusted: ${why}`, { cause });

/**
 * Demands that a message is the upstream's: by the shared secret, or signed by who chains to an anchor and may speak for a CA
 * (RFC 9483 §3.2, RFC 9480 §2.2). Faults: unavailable, as somebody else may have said anything.
 */
export async function authenticate(
  message: SealedPkiMessage,
  trusted: Trusted,
  leniency: Leniency,
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
      if (bodyType === 'error' && leniency.unprotectedErrors) return;
      if (bodyType === 'pkiConf' && leniency.unprotectedConfirmations) return;
      throw untrusted(`a message of type ${bodyType} without protection`);
    }
    case 'mac':
      if (!trusted.secret) throw untrusted('it is protected by a MAC, but no shared secret is configured');
      if (!(await protection.verify(trusted.secret))) throw untrusted('its MAC is wrong');
      return;
    case 'signature': {
      const { signer, others } = signerOf(message, trusted, leniency);
      if (!protection.verify(readPublicKey(signer.spki))) throw untrusted('its signature is wrong');
      demandTrust(signer, others, trusted, leniency, now, message.bodyType === 'nested');
    }
  }
}

interface Signer {
  readonly signer: Certificate;
  readonly others: readonly Certificate[];
}

function signerOf(message: SealedPkiMessage, { server }: Trusted, leniency: Leniency): Signer {
  const { anyCertificateOrder, anySenderKid } = leniency;
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
  { anySigner }: Leniency,
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
  // What has another one inside may come from an authority that only passes it on.
  const speaks = purposes?.includes(oid.cmcCa) || (wraps && purposes?.includes(oid.cmcRa));
  if (!serverName && !isCa && !speaks)
    throw untrusted('its signer is not authorized to act for a CA (id-kp-cmcCA)');
  if (keyUsage && !keyUsage.includes('digitalSignature'))
    throw untrusted('the key usage of its signer lacks digitalSignature');
}
