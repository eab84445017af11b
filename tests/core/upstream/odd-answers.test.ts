import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore, restoreSqliteStore } from '#adapters/outbound/sql/sqlite.ts';
import { der } from '#core/der/builder.ts';
import { tag } from '#core/der/tag.ts';
import { Fault } from '#core/fault.ts';
import { unsettledRestore } from '#core/ports/snapshot.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { cmpPlant } from '#tests/fixtures/cmp-plant.ts';
import { certsOnly, estUpstream } from '#tests/fixtures/est-upstream.ts';
import {
  type Installation,
  installation,
  password,
  request,
  testClock,
} from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { trust } from '#tests/fixtures/manufacturer.ts';
import { oddCa, oddCertificate } from '#tests/fixtures/odd-certificates.ts';
import { hugeInteger, oddNames } from '#tests/fixtures/odd-names.ts';
import { plant, pumpRequest, remoteEst } from '#tests/fixtures/plant.ts';

// Input that does not come from clients: from upstream CAs and backups.
const directory = mkdtempSync(join(tmpdir(), 'postern-odd-'));
afterAll(() => rmSync(directory, { recursive: true }));

const key = testKey('p-256', 'pump');
const faultOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no fault',
    (error) => (error instanceof Fault ? 'Fault' : error),
  );

/** Returns the log entries whose cause is not a Fault. */
const defects = ({ log }: Pick<Installation, 'log'>) =>
  log.entries.filter(({ cause }) => cause instanceof Error && !(cause instanceof Fault));

test('an upstream CA over EST may have any readable name', async () => {
  for (const [what, name] of oddNames) {
    await using upstream = await estUpstream(() => Date.UTC(2026, 5, 1, 12));
    const odd = oddCa(name, what);
    const url = `https://localhost:${upstream.port}/.well-known/est`;
    await using site = await installation({
      issuers: (own) =>
        new Map([
          ['plant', remoteEst(own, { url, trust: { kind: 'anchors', certificates: [upstream.root] } })],
        ]),
    });
    upstream.caCerts(() => certsOnly(odd.certificate));
    const { id } = await site.gateway.issuingCas.create(site.admin, {
      uniqueName: what,
      type: 4,
      issuer: 'plant',
    });
    const domain = await site.gateway.domains.read(site.admin, 1);
    await site.gateway.domains.update(site.admin, domain.id, { issuingCa: id });
    const { password: secret } = await site.device('pump-1');
    upstream.always(({ subject }) =>
      certsOnly(oddCertificate({ subject, key, issuer: { subject: name, key: odd.key } })),
    );
    const asked = site.enrol(password('pump-1', secret), {}, pumpRequest(key));
    // The certificate lacks what the profile requires; here it only has to be readable.
    expect([what, await faultOf(asked)]).toEqual([what, 'Fault']);
    expect(defects(site)).toEqual([]);
  }
});

test('certificates of an upstream CA over EST with unusual subjects or huge serial numbers are rejected', async () => {
  await using one = await plant();
  const { upstream } = one;
  const answers = [
    ...oddNames.map(([, subject]) => oddCertificate({ subject, key, issuer: oddCa(upstream.top.name, 'x') })),
    oddCertificate({ subject: upstream.top.name, key, serial: hugeInteger.subarray(0, 20_000) }),
  ];
  for (const [n, answered] of answers.entries()) {
    upstream.script(() => certsOnly(answered));
    // A request whose response was rejected is not sent again.
    expect(await faultOf(one.ask(pumpRequest(testKey('p-256', `answer ${n}`))))).toBe('Fault');
  }
  expect(upstream.received).toHaveLength(answers.length);
  expect(defects(one.service)).toEqual([]);
  expect(await one.ask(pumpRequest(key))).toMatchObject({ kind: 'issued' });
});

test('responses of an upstream CA over CMP with unusual names and huge integers are rejected', async () => {
  await using one = await cmpPlant();
  const saying = oddNames.map(([, name]) => ({
    header: { sender: { kind: 'directory', value: name } as const },
    signer: { certificate: oddCertificate({ subject: name, key }), key },
  }));
  for (const [n, said] of saying.entries()) {
    one.upstream.script((_, say) => say({ type: 'pkiConf' }, said));
    expect(await faultOf(one.ask(pumpRequest(testKey('p-256', `answer ${n}`))))).toBe('Fault');
  }
  const huge = der((b) => b.sequence((s) => s.add(tag.integer, hugeInteger)));
  one.upstream.script(() => huge);
  expect(await faultOf(one.ask(pumpRequest(key)))).toBe('Fault');
  expect(defects(one.service)).toEqual([]);
});

test('a restored backup with such names has working CAs and truststores', async () => {
  const path = join(directory, 'restored.db');
  const clock = testClock();
  const file = await openSqliteStore({ path: join(directory, 'store.db'), clock });
  await using site = await installation({ store: file, clock });
  for (const [what, name] of oddNames) {
    const { key: own, certificate } = oddCa(name, what);
    const pkcs8 = new Uint8Array(own.privateKey.export({ format: 'der', type: 'pkcs8' }));
    const material = { privateKey: pkcs8, certificate, chain: [] };
    await site.gateway.issuingCas.create(site.admin, { uniqueName: what, type: 2, material });
    await trust(site, what, certificate);
  }
  await site.store.snapshot!((snapshot) => restoreSqliteStore(path, snapshot));
  const store = await openSqliteStore({ path, clock: site.clock });
  const marker = await store.find('setting', { name: unsettledRestore });
  await store.commit([{ op: 'delete', kind: 'setting', id: marker!.id }]);
  {
    await using restored = await installation({ store, clock: site.clock, wrapKeys: () => site.keys });
    const { gateway, admin } = restored;
    const cas = (await gateway.issuingCas.list(admin, { limit: 100 })).records;
    const names = cas.map(({ certificate }) =>
      formatDistinguishedName(parseCertificate(certificate).subject),
    );
    for (const [, name] of oddNames) expect(names).toContain(formatDistinguishedName(name));
    const { password: secret } = await restored.device('pump-1');
    await restored.enrol(password('pump-1', secret), {}, request(key, 'CN=pump-1'));
  }
});
