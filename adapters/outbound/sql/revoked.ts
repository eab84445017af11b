import type { RevokedCertificate } from '#core/ports/store.ts';
import type { Driver } from './driver.ts';
import type { Statements } from './statements.ts';

/** Rows per page: reading and encoding a page takes about a millisecond, so other requests can run between pages. */
const page = 250;

interface RevokedRow extends RevokedCertificate {
  readonly id: number;
}

/** See `Store.revoked`. Reads one status after the other, so that an index contains the rows in this order. */
export async function* revoked(
  driver: Driver,
  statements: Statements,
  ca: number,
  since: number,
): AsyncGenerator<RevokedCertificate> {
  // A certificate on hold may be revoked during this iteration: certificates on hold are read first and not repeated.
  const onHold = new Set<number>();
  for (const status of ['hold', 'revoked']) {
    for (let after = 0, rows = page; rows === page; ) {
      const found = (await driver.query(
        statements.revokedAfter(page),
        [status, ca, after, since],
        true,
      )) as unknown as RevokedRow[];
      rows = found.length;
      for (const { id, ...certificate } of found) {
        after = id;
        if (status === 'hold') onHold.add(id);
        else if (onHold.has(id)) continue;
        yield certificate;
      }
      // SQLite queries are synchronous: without this pause, no other request would run until the last page.
      await new Promise(setImmediate);
    }
  }
}
