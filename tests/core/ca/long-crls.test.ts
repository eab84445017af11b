import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import type { Store, Write } from '#core/ports/store.ts';
import { parseCrl, revokedEntries } from '#core/x509/crl.ts';
import { apiOf } from '#tests/fixtures/api.ts';
import {
  type Installation,
  installation,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';

const count = 20_000;
const clock = testClock();
/** Size in octets of the longest value in each commit. */
const written: number[] = [];
let store: Store;
let site: Installation;
let other: Installation;
let ca: number;

/** Two gateways on one store with 20,000 revoked certificates. */
beforeAll(async () => {
  const own = await openSqliteStore({ path: ':memory:', clock });
  store = {
    ...own,
    commit(writes) {
      const values = writes.flatMap((write) =>
        write.op === 'insert'
          ? Object.values(write.values)
          : write.op === 'update'
            ? Object.values(write.set)
            : [],
      );
      written.push(Math.max(0, ...values.map((value) => (value instanceof Uint8Array ? value.length : 0))));
      return own.commit(writes);
    },
  };
  site = await installation({ clock, store });
  other = await installation({ clock, store: { ...store, close: async () => {} } });
  const { password: secret } = await site.device('pump');
  await site.enrol(password('pump', secret), {}, request(testKey('p-256'), 'CN=pump'));
  const [certificate] = (await store.list('certificate', { limit: 1 })).records;
  const { id, ...record } = await site.gateway.certificates.revoke(site.admin, certificate!.id, {
    reason: 'superseded',
  });
  ca = record.ca;
  const stored = (await store.get('certificate', id))!;
  const copies = Array.from({ length: count - 1 }, (_, n): Write => {
    const { id: _id, ...values } = stored;
    const serialNumber = `7F${n.toString(16).toUpperCase().padStart(30, '0')}`;
    return { op: 'insert', kind: 'certificate', values: { ...values, serialNumber } };
  });
  for (let at = 0; at < copies.length; at += 2000) await own.commit(copies.slice(at, at + 2000));
}, 60_000);

afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const generate = async () => {
  // Other gateways cache a CRL for one second.
  clock.advance(2000);
  return (await site.gateway.issuingCas.generateCrl(site.admin, ca)).crl;
};
const partNames = async () => {
  const { records } = await store.listWithout('crlPart', ['octets'], { limit: 1000 });
  return new Set(records.map(({ name }) => name));
};

test('a long CRL is written in parts, and another gateway reassembles them', async () => {
  written.length = 0;
  const crl = await generate();
  expect(crl.length).toBeGreaterThan(900_000);
  expect(Math.max(...written)).toBe(256 * 1024);
  const entries = [...revokedEntries(parseCrl(crl))];
  expect(entries).toHaveLength(count);
  const served = await other.gateway.crl(ca);
  expect(Buffer.compare(served, crl)).toBe(0);
  expect(await other.gateway.crl(ca)).toBe(served);
  const record = (await store.find('crl', { ca }))!;
  expect(record.crl).toHaveLength(0);
  expect(await partNames()).toEqual(new Set([record.parts!]));
});

test('concurrent callers get the same CRL', async () => {
  await generate();
  const [one, two] = await Promise.all([other.gateway.crl(ca), other.gateway.crl(ca)]);
  expect(one === two).toBe(true);
});

test('the next CRL deletes the parts of the previous CRL and incomplete parts', async () => {
  const crl = await generate();
  const abandoned = { ca, name: 'abandoned', position: 0, octets: Uint8Array.of(1) };
  const fresh = { createdAt: clock.now(), ...abandoned, name: 'fresh' };
  await store.commit([
    { op: 'insert', kind: 'crlPart', values: { createdAt: clock.now() - 3_700_000, ...abandoned } },
    { op: 'insert', kind: 'crlPart', values: fresh },
  ]);
  const next = await generate();
  expect(Buffer.compare(next, crl)).not.toBe(0);
  const record = (await store.find('crl', { ca }))!;
  // Another gateway may still be writing the fresh ones.
  expect(await partNames()).toEqual(new Set([record.parts!, 'fresh']));
  const { id } = (await store.find('crlPart', { ca, name: 'fresh', position: 0 }))!;
  await store.commit([{ op: 'delete', kind: 'crlPart', id }]);
});

test('a CRL in the record, written by a gateway of an earlier version, is served', async () => {
  await generate();
  const record = (await store.find('crl', { ca }))!;
  const crl = Uint8Array.of(0x30, 0);
  await store.commit([{ op: 'update', kind: 'crl', id: record.id, set: { crl, number: record.number + 1 } }]);
  clock.advance(2000);
  expect(await other.gateway.crl(ca)).toEqual(crl);
  await store.commit([{ op: 'update', kind: 'issuingCa', id: ca, set: { crlNumber: record.number + 1 } }]);
});

test('a CRL that is too long for a message is rejected with its download URL', async () => {
  await generate();
  const record = (await store.find('crl', { ca }))!;
  const crl = new Uint8Array(4 * 2 ** 20 + 1);
  await store.commit([{ op: 'update', kind: 'crl', id: record.id, set: { crl, number: record.number + 1 } }]);
  await store.commit([{ op: 'update', kind: 'issuingCa', id: ca, set: { crlNumber: record.number + 1 } }]);
  clock.advance(2000);
  const uris = [`http://pki.example:8080/crl/${ca}.crl`];
  const wanted = [{ issuers: [], uris, thisUpdate: undefined }];
  const refused = await other.gateway.information.newerCrls(wanted).catch((fault) => fault);
  expect(refused).toMatchObject({ code: 'unsupported', hint: `download it from ${uris[0]}` });
});

test('a CRL with missing parts is unavailable, not truncated', async () => {
  await generate();
  clock.advance(2000);
  const { records } = await store.listWithout('crlPart', ['octets'], { limit: 1 });
  await store.commit([{ op: 'delete', kind: 'crlPart', id: records[0]!.id }]);
  const failed = await other.gateway.crl(ca).catch((fault) => fault);
  expect(failed).toMatchObject({ code: 'unavailable', retryAfter: 1 });
});

test('the Management API sends a CRL in chunks, with its length', async () => {
  const crl = await generate();
  const api = await apiOf(site);
  const path = `/api/issuing-cas/${ca}/crl/`;
  const pem = await api.get(path);
  const der = await api.get(`${path}?encoding=der`);
  const json = await api.get(path, { accept: 'application/json' });
  for (const answer of [pem, der, json]) {
    expect(answer.headers['content-length']).toBe(String(answer.bytes.length));
    expect(answer.longestPiece).toBeLessThan(70_000);
  }
  expect(Buffer.compare(der.bytes, crl)).toBe(0);
  expect(json.body).toEqual({ detail: pem.text });
  expect(Buffer.from(pem.text.replace(/-----[^-]+-----|\n/g, ''), 'base64').equals(crl)).toBe(true);
});
