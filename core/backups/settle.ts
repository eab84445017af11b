import { expireGranted } from '../approvals/expiry.ts';
import { audit } from '../audit/record.ts';
import type { Crls } from '../ca/crls.ts';
import { deactivationWrites } from '../ca/revocation.ts';
import type { SetAside, WithConfiguration } from '../configuration/configuration.ts';
import { sameBytes } from '../der/bytes.ts';
import { hasExpired } from '../der/time.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import { unsettledRestore } from '../ports/snapshot.ts';
import type { Write } from '../ports/store.ts';
import type { Actor } from '../records/audit-event.ts';
import type { StoredCertificate } from '../records/certificate.ts';
import type { IssuingCa } from '../records/issuing-ca.ts';
import type { WithDamagedRecords } from '../storage/damaged-records.ts';
import { everyRecord } from '../storage/every-record.ts';
import { formatSerial, parseCertificate } from '../x509/certificate.ts';
import { type Crl, parseCrl, type RevokedEntry, revokedEntries } from '../x509/crl.ts';
import { readPublicKey, verifySignature } from '../x509/public-key.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'store'>,
    WithConfiguration,
    WithDamagedRecords {}

export interface RestoreRequest {
  /** When the backup was made, ms since 1970. */
  readonly createdAt: number;
  /** CRLs published after the backup, DER: the newest of each CA. */
  readonly crls: readonly Uint8Array[];
}

export interface RestoreResult {
  /** Certificates that are good in the backup and are now revoked or on hold. */
  readonly revoked: number;
  /** Revoked certificates that are not in the backup: they were issued later, and stay on the CRL. */
  readonly unknown: number;
  /** CAs without a later CRL. */
  readonly withoutCrl: readonly string[];
  /** CAs whose new CRL could not be issued yet; maintenance retries. */
  readonly withoutNewCrl: readonly string[];
  /**
   * Records that cannot be loaded: they were restored as they are in the backup, and everything else works without
   * them.
   */
  readonly setAside: readonly SetAside[];
}

/** No CA publishes this many CRLs between a backup and a restore; a CRLNumber has up to 20 octets (RFC 5280 §5.2.3). */
const step = 1_000_000;
const mostWrites = 200;

/**
 * Reconciles a restored store before the first start, because the backup does not know later events: certificates on
 * one of the CRLs are revoked again, every local CA issues a CRL with a number above all that it can have published,
 * and approvals that were not collected have to be requested anew. Can be repeated after an interruption. Faults:
 * conflict (no restore to settle), malformed (a CRL that none of the CAs has signed), unavailable.
 */
export async function settleRestore(
  context: Dependencies,
  crls: Crls,
  actor: Actor,
  ask: RestoreRequest,
): Promise<RestoreResult> {
  const { store, log } = context;
  const marker = await store.find('setting', { name: unsettledRestore });
  if (!marker) throw new Fault('conflict', 'there is no interrupted restore to complete');
  context.configuration.expire();
  const { records } = await everyRecord(store, 'issuingCa');
  const cas = records.filter(isReadable);
  const given = ask.crls.map((der) => {
    const crl = parseCrl(der);
    return { crl, signers: signersOf(crl, cas) };
  });

  let revoked = 0;
  let unknown = 0;
  const numbers = new Map<number, number>();
  for (const { crl, signers } of given) {
    for (const { id } of signers) numbers.set(id, Math.max(numbers.get(id) ?? 0, Number(crl.number ?? 0n)));
    let writes: Write[] = [];
    for (const entry of revokedEntries(crl)) {
      const found = await reapply(context, actor, signers, entry);
      if (found.known === false) unknown++;
      else if (found.writes.length > 0) revoked++;
      writes.push(...found.writes);
      if (writes.length < mostWrites) continue;
      await store.commit(writes);
      writes = [];
    }
    await store.commit(writes);
  }

  await expireGranted(context);
  const local = cas.filter(({ key }) => key !== null);
  const withoutCrl = local.filter(({ id }) => !numbers.has(id)).map(({ uniqueName }) => uniqueName);
  const detail = { createdAt: new Date(ask.createdAt).toISOString(), revoked, unknown };
  await store.commit([
    ...local.map(({ id, crlNumber }): Write => {
      const number = Math.max(crlNumber, numbers.get(id) ?? 0) + step;
      return { op: 'update', kind: 'issuingCa', id, set: { crlNumber: number, lastCrlIssuedAt: null } };
    }),
    { op: 'delete', kind: 'setting', id: marker.id },
    audit(context, actor, { action: 'backup.restore', object: '', detail }),
  ]);
  context.configuration.expire();

  const withoutNewCrl: string[] = [];
  for (const { id, uniqueName, certificate } of local) {
    if (hasExpired(parseCertificate(certificate).notAfter, context.clock.now())) continue;
    await crls.generate(id, actor).catch((error) => {
      log.error('the CRL after a restore could not be issued', error, { ca: uniqueName });
      withoutNewCrl.push(uniqueName);
    });
  }
  const { setAside } = await context.configuration.current();
  return { revoked, unknown, withoutCrl, withoutNewCrl, setAside };
}

/** A CA with an unreadable certificate is set aside when the configuration is loaded. */
function isReadable({ certificate }: IssuingCa): boolean {
  try {
    parseCertificate(certificate);
    return true;
  } catch {
    return false;
  }
}

type Some<T> = readonly [T, ...T[]];

/** CAs of the same name and key share a CRL. */
function signersOf(crl: Crl, cas: readonly IssuingCa[]): Some<IssuingCa> {
  const { signatureAlgorithm } = crl;
  const [signer, ...others] = cas.filter(({ certificate: der }) => {
    const { subject, spki } = parseCertificate(der);
    if (!signatureAlgorithm || !sameBytes(subject.der, crl.issuer.der)) return false;
    return verifySignature(readPublicKey(spki), signatureAlgorithm, crl.tbs, crl.signature);
  });
  if (!signer) throw new Fault('malformed', 'none of the restored CAs has signed this CRL');
  if ((crl.number ?? 0n) > BigInt(Number.MAX_SAFE_INTEGER - 2 * step)) {
    throw new Fault('unsupported', 'the number of this CRL is too large');
  }
  return [signer, ...others];
}

/** Returns the writes that apply a CRL entry to the store; none if the store already has it. */
async function reapply(
  context: Dependencies,
  actor: Actor,
  signers: Some<IssuingCa>,
  { serial, revokedAt, reason = 'unspecified', invalidityDate }: RevokedEntry,
): Promise<{ known: boolean; writes: readonly Write[] }> {
  const { store, clock, configuration } = context;
  const serialNumber = formatSerial(serial);
  const status = reason === 'certificateHold' ? 'hold' : 'revoked';
  const state = {
    status,
    revokedAt,
    revocationReason: reason,
    invalidityDate: invalidityDate ?? null,
  } as const;
  const detail = { reason, serialNumber };
  let record: StoredCertificate | undefined;
  for (const { id } of signers) record ??= await store.find('certificate', { serialNumber, ca: id });
  if (!record) {
    // The certificate itself is lost, but its revocation must be kept as long as it can be valid.
    const values = {
      createdAt: clock.now(),
      commonName: serialNumber,
      ca: signers[0].id,
      serialNumber,
      subject: '',
      notValidBefore: revokedAt,
      notValidAfter: Math.max(...signers.map(({ certificate }) => parseCertificate(certificate).notAfter)),
      fingerprint: '',
      der: new Uint8Array(0),
      device: null,
      domain: null,
      profile: null,
      protocol: 'crl',
      hidden: true,
      ...state,
    };
    const audited = audit(context, actor, { action: 'certificate.revoke', object: '', detail });
    return { known: false, writes: [{ op: 'insert', kind: 'certificate', values }, audited] };
  }
  if (record.status === 'revoked' || record.status === status) return { known: true, writes: [] };
  const { id } = record;
  const audited = audit(context, actor, {
    action: 'certificate.revoke',
    object: `certificate:${id}`,
    detail,
  });
  const dead =
    status === 'revoked' ? deactivations(context, await configuration.current(), actor, record) : [];
  return {
    known: true,
    writes: [
      { op: 'update', kind: 'certificate', id, where: { status: record.status }, set: state },
      audited,
      ...dead,
    ],
  };
}

/** Deactivates a CA whose own certificate was revoked. A root's entry on its own CRL has no meaning and is ignored. */
function deactivations(...args: Parameters<typeof deactivationWrites>): readonly Write[] {
  try {
    return deactivationWrites(...args);
  } catch (error) {
    if (error instanceof Fault && error.code === 'conflict') return [];
    throw error;
  }
}
