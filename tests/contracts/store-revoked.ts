import { describe, expect, test } from 'bun:test';
import type { RevokedCertificate, Store } from '#core/ports/store.ts';
import type { Databases } from './store.ts';
import { insert, nullable } from './store-samples.ts';

const count = 2500;
const serial = (i: number): string => `7F${i.toString(16).toUpperCase().padStart(8, '0')}`;

/** 2,500 revoked, 1,100 on hold and 50 good certificates of one CA, and one certificate of another CA. */
async function filled(store: Store): Promise<readonly number[]> {
  await store.commit([insert('issuingCa'), insert('issuingCa', { uniqueName: 'other' })]);
  const certificate = (i: number, status: 'revoked' | 'hold' | 'good', ca = 1) =>
    insert('certificate', {
      ...nullable.certificate,
      ca,
      serialNumber: serial(i),
      status,
      notValidAfter: 1000 + i,
      revokedAt: status === 'good' ? null : i,
      revocationReason: status === 'hold' ? 'certificateHold' : i % 2 === 0 ? 'keyCompromise' : null,
      invalidityDate: i % 3 === 0 ? -i : null,
      der: Uint8Array.of(1),
    });
  const all = Array.from({ length: count + 1150 }, (_, i) =>
    certificate(i, i < count ? 'revoked' : i < count + 1100 ? 'hold' : 'good'),
  );
  return store.commit([...all, certificate(0, 'revoked', 2)]);
}

const collected = async (source: AsyncIterable<RevokedCertificate>): Promise<RevokedCertificate[]> => {
  const found: RevokedCertificate[] = [];
  for await (const one of source) found.push(one);
  return found;
};

/** What `Store.revoked` promises. */
export function revokedContract({ fresh }: Databases): void {
  describe('revoked certificates', () => {
    test('are those of the CA that are revoked or on hold, each once, with the fields of a CRL entry', async () => {
      const store = await (await fresh()).open();
      await filled(store);
      const found = await collected(store.revoked(1, 0));
      expect(found).toHaveLength(count + 1100);
      expect(new Set(found.map(({ serialNumber }) => serialNumber)).size).toBe(count + 1100);
      const [six, seven] = [6, 7].map((i) => found.find(({ serialNumber }) => serialNumber === serial(i)));
      expect(six).toEqual({
        serialNumber: serial(6),
        revokedAt: 6,
        revocationReason: 'keyCompromise',
        invalidityDate: -6,
      });
      expect(seven).toEqual({
        serialNumber: serial(7),
        revokedAt: 7,
        revocationReason: null,
        invalidityDate: null,
      });
      expect(await collected(store.revoked(2, 0))).toHaveLength(1);
      expect(await collected(store.revoked(3, 0))).toEqual([]);
    });

    test('omit those that expired before the given time', async () => {
      const store = await (await fresh()).open();
      await filled(store);
      const found = await collected(store.revoked(1, 1000 + count - 1));
      expect(found).toHaveLength(1101);
    });

    test('can be read while other queries are served, and a certificate that changes meanwhile occurs once at most', async () => {
      const store = await (await fresh()).open();
      const ids = await filled(store);
      const found: string[] = [];
      let others = 0;
      const timer = setInterval(() => {
        others++;
      }, 0);
      for await (const { serialNumber } of store.revoked(1, 0)) {
        found.push(serialNumber);
        if (found.length !== 10) continue;
        const [held, next] = [ids[count]!, ids[count + 1099]!];
        await store.commit([
          { op: 'update', kind: 'certificate', id: held, set: { status: 'revoked' } },
          { op: 'update', kind: 'certificate', id: next, set: { status: 'good' } },
        ]);
      }
      clearInterval(timer);
      expect(new Set(found).size).toBe(found.length);
      expect(found).toContain(serial(count));
      expect(found.length).toBeGreaterThanOrEqual(count + 1099);
      expect(others).toBeGreaterThan(0);
    });
  });
}
