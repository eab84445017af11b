import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { Query, Store } from '../ports/store.ts';
import type { CrlPart, StoredCrl } from '../records/issuing-ca.ts';

/** Octets of a part; longer CRLs are stored in parts. */
const partLength = 256 * 1024;
/** The number of parts that one statement reads, or one commit deletes. */
const pageLength = 4;
/** How long parts without a CRL record are kept, in milliseconds: another instance may still be writing them. */
const keptFor = 3_600_000;

/** The fields `crl` and `parts` of a CRL record. */
type Contents = Pick<StoredCrl, 'crl' | 'parts'>;

/**
 * Stores a long CRL in parts, each in its own commit; a short CRL stays in its record. The parts are unused until a
 * record names them.
 */
export async function storeInParts(
  { store, clock, entropy }: Pick<Ports, 'store' | 'clock' | 'entropy'>,
  ca: number,
  crl: Uint8Array,
): Promise<Contents> {
  if (crl.length <= partLength) return { crl, parts: null };
  const name = Buffer.from(entropy.bytes(16)).toString('hex');
  for (let position = 0; position * partLength < crl.length; position++) {
    const octets = crl.subarray(position * partLength, (position + 1) * partLength);
    const values = { createdAt: clock.now(), ca, name, position, octets };
    await store.commit([{ op: 'insert', kind: 'crlPart', values }]);
  }
  return { crl: new Uint8Array(0), parts: name };
}

/** Returns the record with its complete CRL, or undefined if parts are missing because a newer CRL has replaced it. */
export async function withParts(store: Store, record: StoredCrl): Promise<StoredCrl | undefined> {
  const { crl, parts } = record;
  // An earlier version of Postern writes the whole CRL into the record and ignores parts.
  if (parts === null || crl.length > 0) return record;
  const found: Uint8Array[] = [];
  const query: Query<'crlPart'> = {
    where: [{ field: 'name', is: 'equal', value: parts }],
    order: { field: 'position', descending: false },
    limit: pageLength,
  };
  for (let cursor: string | undefined; ; ) {
    const page = await store.list('crlPart', { ...query, ...(cursor !== undefined && { cursor }) });
    found.push(...page.records.map(({ octets }) => octets));
    cursor = page.next;
    if (cursor === undefined) break;
  }
  const whole = Buffer.concat(found);
  return derLength(whole) === whole.length ? { ...record, crl: whole } : undefined;
}

/** Returns the length of the DER element at the beginning, including its header (X.690 §8.1.3); 0 if there is none. */
function derLength(der: Uint8Array): number {
  const first = der[1] ?? 0;
  if (first < 0x80) return der.length < 2 ? 0 : 2 + first;
  const octets = der.subarray(2, 2 + (first & 0x7f));
  return octets.reduce((length, octet) => length * 256 + octet, 0) + 2 + octets.length;
}

/** Deletes the parts of the CRL that `current` replaced, and those of CRLs that were never completed. */
export async function deleteOldParts(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  ca: number,
  current: string | null,
  replaced: string | null,
): Promise<void> {
  const now = clock.now();
  const isOld = ({ createdAt, name }: Omit<CrlPart, 'octets'>): boolean =>
    name === replaced || (name !== current && Math.abs(now - createdAt) > keptFor);
  for (let cursor: string | undefined; ; ) {
    const page = await store.listWithout('crlPart', ['octets'], {
      where: [{ field: 'ca', is: 'equal', value: ca }],
      limit: 1000,
      ...(cursor !== undefined && { cursor }),
    });
    const old = page.records.filter(isOld);
    for (let at = 0; at < old.length; at += pageLength) {
      const some = old.slice(at, at + pageLength);
      await store.commit(some.map(({ id }) => ({ op: 'delete', kind: 'crlPart', id }))).catch(ignoreGone);
    }
    cursor = page.next;
    if (cursor === undefined) return;
  }
}

/** Another instance has deleted the part. */
function ignoreGone(error: unknown): void {
  if (!(error instanceof Fault) || error.code !== 'conflict') throw error;
}
