import { audit, systemActor } from '../audit/record.ts';
import { sameIssuer } from '../configuration/ca-lookup.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { hasExpired } from '../der/time.ts';
import { Fault, toFault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Write } from '../ports/store.ts';
import type { Actor } from '../records/audit-event.ts';
import type { IssuingCa, StoredCrl } from '../records/issuing-ca.ts';
import { signByCa } from '../signing/key-stores.ts';
import { retried } from '../storage/commit.ts';
import { everyRecord } from '../storage/every-record.ts';
import { defaultSignatureAlgorithm } from '../x509/algorithm.ts';
import { subjectKeyIdentifierOf } from '../x509/certificate.ts';
import { buildCrl, type RevokedEntry } from '../x509/crl.ts';
import { keyIdentifier, readPublicKey, verifyLongMessage } from '../x509/public-key.ts';
import { deleteOldParts, storeInParts, withParts } from './crl-parts.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'keyStores' | 'log' | 'store'>,
    WithConfiguration {}

/** The validity of a CRL; it is renewed when a third is left. Milliseconds. */
const lifetime = 7 * 24 * 3_600_000;
const renewBefore = lifetime / 3;
const remembered = 1000;
const tries = 20;
/** How often a read is repeated because a newer CRL replaced the one that was being read. */
const readTries = 5;
/** The tolerated difference between the clocks of instances, in milliseconds. */
const clockSkew = 60_000;

/** Issues and publishes the CRLs of local CAs. */
export class Crls {
  readonly #context: Dependencies;
  /** By CA: the generation that has not started yet; new callers share it. */
  readonly #waiting = new Map<number, Promise<StoredCrl>>();
  readonly #running = new Map<number, Promise<StoredCrl>>();
  readonly #newest = new Map<number, { readonly crl: StoredCrl; readonly readAt: number }>();
  /** By CA: CRLs are long, so concurrent callers share one read. */
  readonly #reading = new Map<number, Promise<StoredCrl>>();

  constructor(context: Dependencies) {
    this.#context = context;
  }

  /**
   * Returns the newest CRL, at most a second old. Anybody may request it and it can be large, so all callers share one
   * copy. Faults: notFound if there is no such CA or it has no CRL yet, unavailable.
   */
  newest(ca: number): Promise<StoredCrl> {
    const now = this.#context.clock.now();
    const known = this.#newest.get(ca);
    if (known && now >= known.readAt && now - known.readAt < remembered) return Promise.resolve(known.crl);
    const reading = this.#reading.get(ca) ?? this.#read(ca).finally(() => this.#reading.delete(ca));
    this.#reading.set(ca, reading);
    return reading;
  }

  /** Like `newest`, but returns undefined if there is no CRL. */
  async find(ca: number): Promise<StoredCrl | undefined> {
    try {
      return await this.newest(ca);
    } catch (error) {
      if (error instanceof Fault && error.code === 'notFound') return undefined;
      throw error;
    }
  }

  async #read(ca: number): Promise<StoredCrl> {
    const { store, clock } = this.#context;
    for (let attempt = 1; attempt <= readTries; attempt++) {
      const readAt = clock.now();
      const which = await this.#recordOf(ca);
      if (!which) {
        this.#newest.delete(ca);
        throw new Fault('notFound', 'this CA has no CRL yet');
      }
      const known = this.#newest.get(ca)?.crl;
      if (known?.number === which.number && known.thisUpdate === which.thisUpdate)
        return this.#remember(known, readAt);
      const record = await store.find('crl', { ca });
      const found = record && (await withParts(store, record));
      if (found) return this.#remember(found, readAt);
    }
    throw new Fault('unavailable', 'the CRL is being replaced: try again', { retryAfter: 1 });
  }

  /** Reads the record without the CRL itself. */
  async #recordOf(ca: number): Promise<Omit<StoredCrl, 'crl'> | undefined> {
    const where = [{ field: 'ca', is: 'equal', value: ca } as const];
    return (await this.#context.store.listWithout('crl', ['crl'], { where, limit: 1 })).records[0];
  }

  /** Returns this CRL or a newer one: an instance may have issued another CRL since this one was read. */
  #remember(found: StoredCrl, readAt: number): StoredCrl {
    const known = this.#newest.get(found.ca)?.crl;
    const crl = known && known.number >= found.number ? known : found;
    this.#newest.set(found.ca, { crl, readAt });
    return crl;
  }

  /**
   * Issues a CRL with all certificates that are revoked now, and the next CRL number. Calls that arrive while a CRL is
   * being issued share the next one. Faults: notFound, unsupported for a CA whose key is not ours, unavailable.
   */
  generate(ca: number, actor: Actor): Promise<StoredCrl> {
    const waiting = this.#waiting.get(ca);
    if (waiting) return waiting;
    const before = this.#running.get(ca);
    const next = (before ? before.then(ignore, ignore) : Promise.resolve()).then(() => {
      this.#waiting.delete(ca);
      const run = this.#generate(ca, actor).finally(() => {
        if (this.#running.get(ca) === run) this.#running.delete(ca);
      });
      this.#running.set(ca, run);
      return run;
    });
    this.#waiting.set(ca, next);
    return next;
  }

  /**
   * Issues CRLs after a revocation. The revocation is valid even if its CRL cannot be issued now: maintenance retries.
   */
  async generateAfterRevocation(cas: Iterable<number>, actor: Actor): Promise<void> {
    const configuration = await this.#context.configuration.current();
    const handled = new Set<number>();
    for (const ca of cas) {
      const loaded = configuration.ca(ca);
      // An upstream CA publishes its own CRLs.
      if (handled.has(ca) || loaded?.record.key === null) continue;
      await this.generate(ca, actor).catch((error) =>
        this.#context.log.error('the CRL after a revocation could not be issued', error, { ca }),
      );
      handled.add(ca);
      for (const { record } of loaded ? sameIssuer(configuration, loaded) : []) handled.add(record.id);
    }
  }

  /**
   * Issues the first CRL of each local CA without one, because certificates refer to it from the start. A CA works
   * without a CRL too, so a failure is only logged, and maintenance retries.
   */
  async generateMissing(actor: Actor): Promise<void> {
    const where = [{ field: 'lastCrlIssuedAt', is: 'equal', value: null }] as const;
    const { records } = await this.#context.store.listWithout('issuingCa', ['chain', 'key'], {
      where,
      limit: 1000,
    });
    const configuration = await this.#context.configuration.current();
    for (const { id, uniqueName } of records) {
      if (!configuration.ca(id)?.record.key) continue;
      await this.generate(id, actor).catch((error) =>
        this.#context.log.error('the first CRL of a CA could not be issued', error, { ca: uniqueName }),
      );
    }
  }

  /** Renews CRLs before they expire, and issues missing ones. Call it on one instance at a time. */
  async renewDue(): Promise<void> {
    const { store, clock, log } = this.#context;
    const { records } = await everyRecord(store, 'issuingCa');
    const configuration = await this.#context.configuration.current();
    for (const { id } of records) {
      // A CA that cannot be loaded cannot sign its CRL; the health check reports it.
      const ca = configuration.ca(id);
      // Reads the current record: a CRL that was just issued may belong to this CA as well.
      const record = ca && (await store.get('issuingCa', id));
      if (!record) continue;
      const { uniqueName, key, lastCrlIssuedAt, lastRevocationAt } = record;
      const now = clock.now();
      const due =
        lastCrlIssuedAt === null ||
        lastCrlIssuedAt + lifetime - renewBefore <= now ||
        // The clock has been corrected since, or the clock of another instance is ahead: relying parties do not accept
        // this CRL yet.
        lastCrlIssuedAt > now + clockSkew ||
        // The CRL after a revocation could not be issued.
        lastRevocationAt !== null;
      // Certificates of an inactive CA are still in use; certificates of an expired CA are not.
      if (!key || !due || hasExpired(ca.certificate.notAfter, now)) continue;
      await this.generate(id, systemActor).catch((error) =>
        log.error('a CRL could not be issued', error, { ca: uniqueName }),
      );
    }
  }

  /** Retries, because another instance may use the CRL number concurrently. */
  #generate(id: number, actor: Actor): Promise<StoredCrl> {
    return retried(() => this.#attempt(id, actor), undefined, tries);
  }

  async #attempt(id: number, actor: Actor): Promise<StoredCrl> {
    const { store, clock, configuration } = this.#context;
    const record = await store.get('issuingCa', id);
    if (!record) throw new Fault('notFound', 'there is no such issuing CA');
    const current = await configuration.current();
    const ca = current.ca(id);
    if (!ca || !record.key)
      throw new Fault(
        'unsupported',
        'Postern does not hold the key of this CA: its CRL is published elsewhere',
      );
    const keys = this.#context.keyStores.get(record.key.store);
    if (!keys) throw new Fault('unavailable', 'the key store of this CA is not configured');
    // RFC 5280 §5: a CRL covers everything that its issuer has issued, and CRLs identify issuers by name and key.
    const others = sameIssuer(current, ca).filter((other) => other.record.id !== id);
    const found = await Promise.all(others.map((other) => store.get('issuingCa', other.record.id)));
    const records = [record, ...found.filter((other) => other !== undefined)].sort((a, b) => a.id - b.id);
    const issuerKey = readPublicKey(ca.certificate.spki);
    const signatureAlgorithm = defaultSignatureAlgorithm(issuerKey.type);
    const number = Math.max(...records.map(({ crlNumber }) => crlNumber)) + 1;
    const thisUpdate = clock.now();
    const nextUpdate = thisUpdate + lifetime;
    const unsigned = await buildCrl({
      signatureAlgorithm,
      issuer: ca.certificate.subject,
      thisUpdate,
      nextUpdate,
      number: BigInt(number),
      authorityKeyIdentifier: subjectKeyIdentifierOf(ca.certificate) ?? keyIdentifier(issuerKey),
      revoked: this.#revoked(records, thisUpdate),
    });
    const signature = await signByCa(keys, record.key.id, signatureAlgorithm, unsigned.tbs);
    if (!(await verifyLongMessage(issuerKey, signatureAlgorithm, unsigned.tbs, signature))) {
      throw new Fault('internal', 'the signature of the CRL does not verify');
    }
    const crl = unsigned.signed(signature);
    const values = { number, thisUpdate, nextUpdate };
    const stored: Awaited<ReturnType<typeof storeInParts>>[] = [];
    for (const one of records) stored.push(await storeInParts(this.#context, one.id, crl));
    const before = await Promise.all(records.map((one) => this.#recordOf(one.id)));
    // Updates the CAs first, in the same order as a revocation does, to avoid a deadlock between two instances.
    const ids = await store.commit([
      ...records.map(
        (one): Write => ({
          op: 'update',
          kind: 'issuingCa',
          id: one.id,
          where: { crlNumber: one.crlNumber },
          set: { crlNumber: number, lastCrlIssuedAt: thisUpdate },
          quiet: true,
        }),
      ),
      ...before.map(
        (old, n): Write =>
          old
            ? { op: 'update', kind: 'crl', id: old.id, set: { ...values, ...stored[n]! } }
            : { op: 'insert', kind: 'crl', values: { ca: records[n]!.id, ...values, ...stored[n]! } },
      ),
      audit(this.#context, actor, { action: 'crl.generate', object: `issuingCa:${id}`, detail: { number } }),
    ]);
    const made = records.map((one, n) => {
      return { id: ids[records.length + n]!, ca: one.id, ...values, crl, parts: stored[n]!.parts };
    });
    for (const one of made) this.#remember(one, thisUpdate);
    await Promise.all(records.map((one) => this.#settleRevocation(one)));
    for (const [n, one] of made.entries()) await this.#deleteOldParts(one, before[n]?.parts ?? null);
    return made.find((one) => one.ca === id)!;
  }

  /** If this fails, the next CRL deletes the parts. */
  async #deleteOldParts({ ca, parts }: StoredCrl, replaced: string | null): Promise<void> {
    await deleteOldParts(this.#context, ca, parts, replaced).catch((error) =>
      this.#context.log.error('parts of old CRLs could not be deleted', error, { ca }),
    );
  }

  /** Clears the revocation mark that `ca` had when the CRL was started; a later revocation needs the next CRL. */
  async #settleRevocation({ id, lastRevocationAt }: IssuingCa): Promise<void> {
    if (lastRevocationAt === null) return;
    const { store, log } = this.#context;
    const where = { lastRevocationAt };
    try {
      await store.commit([
        { op: 'update', kind: 'issuingCa', id, where, set: { lastRevocationAt: null }, quiet: true },
      ]);
    } catch (error) {
      const { code } = toFault(error);
      // If this fails, maintenance issues one unnecessary CRL.
      if (code !== 'conflict')
        log.error('the revocation mark of a CA could not be cleared', error, { ca: id });
    }
  }

  /**
   * Certificates that expired before the last CRL have appeared on a CRL after their expiry (RFC 5280 §3.3) and are
   * left out.
   */
  async *#revoked(cas: readonly IssuingCa[], now: number): AsyncGenerator<RevokedEntry> {
    for (const { id, lastCrlIssuedAt } of cas) {
      // A clock that was temporarily ahead must not remove certificates too early.
      const since = Math.min(lastCrlIssuedAt ?? 0, now);
      for await (const one of this.#context.store.revoked(id, since)) {
        yield {
          serial: Buffer.from(one.serialNumber, 'hex'),
          revokedAt: one.revokedAt,
          ...(one.revocationReason && { reason: one.revocationReason }),
          ...(one.invalidityDate !== null && { invalidityDate: one.invalidityDate }),
        };
      }
    }
  }
}

const ignore = (): void => {};
