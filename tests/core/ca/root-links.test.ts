import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mostLinked } from '#core/ca/root-links.ts';
import { Fault } from '#core/fault.ts';
import type { KeyStore } from '#core/ports/keys.ts';
import type { StoredCertificate } from '#core/records/certificate.ts';
import type { IssuingCa } from '#core/records/issuing-ca.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { validatePath } from '#core/x509/path.ts';
import { type Installation, installation } from '#tests/fixtures/installation.ts';

let site: Installation;
let first: IssuingCa;
let isBroken = false;

const wrapKeys = (keys: KeyStore): KeyStore => ({
  ...keys,
  inProcess: false,
  sign(id, ...rest) {
    if (isBroken && id === first.key!.id) throw new Fault('unavailable', 'the token does not respond');
    return keys.sign(id, ...rest);
  },
});

beforeEach(async () => {
  isBroken = false;
  site = await installation({ wrapKeys });
  const { records } = await site.gateway.issuingCas.list(site.admin, { limit: 10 });
  first = records.find(({ chain }) => chain.length === 0)!;
  site.clock.advance(24 * 3_600_000);
});
afterEach(() => site[Symbol.asyncDispose]());

let names = 0;
const namesake = (input: object = {}): Promise<IssuingCa> =>
  site.gateway.issuingCas.create(site.admin, {
    uniqueName: `root ${++names}`,
    type: 0,
    subject: formatDistinguishedName(parseCertificate(first.certificate).subject),
    ...input,
  });

/** Returns the certificates that a root issued for another key under its own name. */
async function links(root: IssuingCa): Promise<readonly StoredCertificate[]> {
  const { subject, spki } = parseCertificate(root.certificate);
  const { records } = await site.store.list('certificate', {
    where: [
      { field: 'ca', is: 'equal', value: root.id },
      { field: 'subject', is: 'equal', value: formatDistinguishedName(subject) },
    ],
    limit: 100,
  });
  return records.filter(
    ({ der, status }) => status === 'failed' || Buffer.compare(parseCertificate(der).spki, spki) !== 0,
  );
}

describe('a root that is created under the name of another root', () => {
  test('is cross-certified with it, once', async () => {
    const next = await namesake();
    await site.gateway.maintain('test');
    await site.gateway.maintain('test');
    const [newWithOld, ...more] = await links(first);
    const [oldWithNew, ...others] = await links(next);
    expect([more, others]).toEqual([[], []]);
    for (const [link, anchor] of [
      [newWithOld!, first],
      [oldWithNew!, next],
    ] as const) {
      const result = validatePath(parseCertificate(link.der), {
        anchors: [parseCertificate(anchor.certificate)],
        intermediates: [],
        time: site.clock.now(),
      });
      expect(result).toMatchObject({ ok: true });
    }
    const certified = (link?: StoredCertificate) => link && parseCertificate(link.der).spki;
    expect(certified(newWithOld)).toEqual(parseCertificate(next.certificate).spki);
    expect(certified(oldWithNew)).toEqual(parseCertificate(first.certificate).spki);
  });

  test('keeps path length and validity of the other root in the link certificate', async () => {
    const next = await namesake({ pathLength: 1, validity: 'P2Y' });
    const [newWithOld] = await links(first);
    const { extensions } = parseCertificate(next.certificate);
    const link = parseCertificate(newWithOld!.der);
    expect(link.extensions).toContainEqual(extensions[0]!);
    expect(link.notAfter).toBe(parseCertificate(next.certificate).notAfter);
  });

  test('is not linked again when its link has been revoked', async () => {
    await namesake();
    const [link] = await links(first);
    await site.gateway.certificates.revoke(site.admin, link!.id, { reason: 'superseded' });
    await site.gateway.maintain('test');
    expect((await links(first)).map(({ status }) => status)).toEqual(['revoked']);
  });

  test('is created while the old key is unavailable, and linked when the key is available again', async () => {
    isBroken = true;
    const next = await namesake();
    expect((await links(first)).map(({ status }) => status)).toEqual(['failed']);
    expect(await links(next)).toHaveLength(1);
    expect(site.log.entries.some(({ event }) => event.includes('link certificate'))).toBe(true);
    isBroken = false;
    await site.gateway.issuingCas.update(site.admin, next.id, { uniqueName: 'renamed' });
    await site.gateway.maintain('test');
    expect((await links(first)).map(({ status }) => status).sort()).toEqual(['failed', 'good']);
  });
});

test('only the four newest roots of a name are linked', async () => {
  const others: IssuingCa[] = [];
  for (let n = 0; n < mostLinked; n++) {
    others.push(await namesake({ keyType: 'p-256' }));
    site.clock.advance(1000);
  }
  const counts: number[] = [];
  for (const root of [first, ...others]) counts.push((await links(root)).length);
  // The oldest was linked with each new root, except with the last one.
  expect([mostLinked, counts]).toEqual([4, [3, 4, 4, 4, 3]]);
});

test('roots with different names are not linked', async () => {
  const other = await namesake({ subject: undefined, commonName: 'Root of somebody else' });
  await site.gateway.maintain('test');
  expect([...(await links(first)), ...(await links(other))]).toEqual([]);
});

test('a root that no longer signs is not linked', async () => {
  await site.gateway.issuingCas.deactivate(site.admin, first.id);
  const next = await namesake();
  expect([...(await links(first)), ...(await links(next))]).toEqual([]);
});

test('a root that was renewed with the same key is not linked with itself', async () => {
  const { id: _, ...same } = (await site.store.get('issuingCa', first.id))!;
  await site.store.commit([{ op: 'insert', kind: 'issuingCa', values: { ...same, uniqueName: 'renewed' } }]);
  const count = () => site.store.count('certificate', [], 100);
  const before = await count();
  site.clock.advance(2000);
  await site.gateway.maintain('test');
  expect(await count()).toBe(before);
});
