import type { Crls } from '../ca/crls.ts';
import { deactivationWrites, type Revocation, revocationWrites } from '../ca/revocation.ts';
import type { StoredCertificate } from '../ca/stored-certificate.ts';
import type { Configuration } from '../configuration.ts';
import { audit, brief, type Context, recordRefusal } from '../context.ts';
import { Fault, toFault } from '../fault.ts';
import type { Write } from '../ports/store.ts';
import { exchangeWrite, memory, refusedExchange } from '../transactions/record.ts';
import type { Answering } from '../transactions/transaction.ts';
import { requesterActor } from './admit.ts';
import type { CertificateReference } from './outcome.ts';
import { findReferred } from './renewed.ts';
import type { CredentialKind, Requester } from './requester.ts';

/** What is to become of one certificate. */
export interface RevocationEntry extends Revocation {
  readonly certificate: CertificateReference;
}

/** For each entry, in their order: nothing when it was done, or why it was not. */
export type RevocationResults = readonly (Fault | undefined)[];

export interface RevocationAsk {
  readonly entries: readonly RevocationEntry[];
  /** The answer is stored in one commit with the revocations. */
  readonly exchange: Answering<RevocationResults>;
}

/** See `Gateway.revoke`. Every entry is audited, done or refused. */
export async function revoke(
  context: Context,
  crls: Crls,
  requester: Requester,
  { entries, exchange }: RevocationAsk,
): Promise<void> {
  const configuration = await context.configuration.current();
  const actor = requesterActor(requester);
  const writes: Write[] = [];
  const results: (Fault | undefined)[] = [];
  const revoked = new Set<StoredCertificate>();
  for (const entry of entries) {
    try {
      if (entry.invalidityDate !== undefined && entry.invalidityDate > context.clock.now()) {
        throw new Fault('malformed', 'invalidityDate: this lies in the future');
      }
      const record = await revocable(context, configuration, requester, entry.certificate);
      if ([...revoked].some(({ id }) => id === record.id)) {
        throw new Fault('conflict', 'the same certificate is named twice');
      }
      writes.push(...revocationWrites(context, actor, record, entry));
      if (entry.reason !== 'removeFromCRL') {
        writes.push(...deactivationWrites(context, configuration, actor, record));
      }
      revoked.add(record);
      results.push(undefined);
    } catch (error) {
      const fault = toFault(error);
      if (fault.code === 'internal' || fault.code === 'unavailable') throw error;
      results.push(fault);
      await recordRefusal(context, refusal(context, requester, entry, fault));
    }
  }
  const answer = await exchange.answer(results);
  const certificate = revoked.values().next().value?.id ?? null;
  const progress = { state: 'done', lasts: memory, certificate } as const;
  try {
    await context.store.commit([...writes, exchangeWrite(context, requester, exchange, answer, progress)]);
  } catch (error) {
    throw refusedExchange(error, exchange);
  }
  if (revoked.size === 0) return;
  context.configuration.expire();
  await crls.generateAfterRevocation(
    [...revoked].map(({ ca }) => ca),
    actor,
  );
}

/** Faults: notFound, also for a certificate that the requester may not know of; forbidden. */
async function revocable(
  context: Context,
  configuration: Configuration,
  requester: Requester,
  reference: CertificateReference,
): Promise<StoredCertificate> {
  const record = await findReferred(context.store, configuration, reference);
  if (!record || record.domain !== requester.domain.id) {
    throw new Fault('notFound', 'there is no such certificate');
  }
  if (!mayRevoke[requester.credential](requester, record)) {
    throw new Fault('forbidden', 'these credentials do not entitle to the revocation of this certificate');
  }
  return record;
}

const isOfSameDevice = ({ device }: Requester, record: StoredCertificate): boolean =>
  device !== undefined && record.device === device.id;

/** What each kind of credential may revoke: the one table, for all protocols. */
const mayRevoke: Record<CredentialKind, (requester: Requester, record: StoredCertificate) => boolean> = {
  password: isOfSameDevice,
  idevid: () => false,
  domainCredential: isOfSameDevice,
  issuedCertificate: ({ presented }, record) => presented?.record.id === record.id,
  registrationAuthority: () => true,
};

function refusal(
  context: Context,
  requester: Requester,
  { certificate: { serialNumber }, reason }: RevocationEntry,
  { code, detail }: Fault,
): Write {
  return audit(context, requesterActor(requester), {
    action: 'certificate.revoke',
    object: `domain:${requester.domain.uniqueName}`,
    outcome: 'refused',
    detail: {
      protocol: requester.target.protocol,
      serialNumber: brief(serialNumber),
      reason,
      code,
      why: brief(detail),
    },
  });
}
