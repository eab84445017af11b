import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import { findValue, typedValue } from '#adapters/wire/cmp/typed-value.ts';
import type { IssuingCa } from '#core/records/issuing-ca.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { type CmpCredential, crmf, ir, issued } from '#tests/fixtures/cmp-client.ts';
import { cmpListener } from '#tests/fixtures/cmp-listener.ts';
import { testClock } from '#tests/fixtures/installation.ts';
import { testKey } from '#tests/fixtures/keys.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';
import { type CmpSite, cmpSite } from './fixture.ts';

// RFC 9483 §4.3.2: a device that trusts one root gets its successor with messages that it can verify.

const key = testKey('p-256', 'pump');
const directory = mkdtempSync(join(tmpdir(), 'postern-cmp-'));

interface Generations {
  readonly site: CmpSite;
  readonly device: Extract<CmpCredential, { certificate: Uint8Array }>;
  readonly domain: number;
  readonly oldRoot: IssuingCa;
  /** Below the old root. */
  readonly oldCa: IssuingCa;
  readonly newRoot: IssuingCa;
  /** Below the new root. */
  readonly newCa: IssuingCa;
}

async function generations(): Promise<Generations> {
  const site = await cmpSite({}, testClock(Date.now()));
  const pump = await site.cmpDevice('pump-1');
  const certificate = issued(await site.client(pump).send(ir(crmf(key)), { implicitConfirm: true }));
  const { records } = await site.gateway.domains.list(site.admin, { limit: 1 });
  const domain = records[0]!.id;
  const cas = (await site.gateway.issuingCas.list(site.admin, { limit: 10 })).records;
  const oldCa = cas.find(({ id }) => id === records[0]!.issuingCa)!;
  const oldRoot = cas.find(({ chain }) => chain.length === 0)!;
  const newRoot = await site.gateway.issuingCas.create(site.admin, {
    uniqueName: 'second generation',
    type: 0,
    subject: formatDistinguishedName(parseCertificate(oldRoot.certificate).subject),
  });
  const newCa = await site.gateway.issuingCas.create(site.admin, {
    uniqueName: 'below the second generation',
    type: 1,
    commonName: 'Second Issuing CA',
    parent: newRoot.id,
  });
  return { site, device: { certificate, key }, domain, oldRoot, oldCa, newRoot, newCa };
}

let both: Generations;
let listener: Awaited<ReturnType<typeof cmpListener>>;

beforeAll(async () => {
  both = await generations();
  listener = await cmpListener(both.site.gateway, both.site.server.mount);
  const files = {
    'old.pem': pem('CERTIFICATE', both.oldRoot.certificate),
    'new.pem': pem('CERTIFICATE', both.newRoot.certificate),
    'own.pem': pem('CERTIFICATE', both.device.certificate),
    key: key.pem(),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
});
afterAll(async () => {
  await listener[Symbol.asyncDispose]();
  await both.site[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const use = async ({ site, domain }: Generations, ca: IssuingCa): Promise<void> => {
  await site.gateway.domains.update(site.admin, domain, { issuingCa: ca.id });
};

/** Sends a request with stock OpenSSL, which trusts one root only. */
async function asked(trusted: string, rest: string): Promise<{ status: number; said: string }> {
  const line = `openssl cmp -config '' -cmd genm -server ${listener.address} -path .well-known/cmp -cert own.pem \
    -key key -trusted ${trusted} ${rest} 2>&1`;
  const client = Bun.spawn(['bash', '-c', line], { cwd: directory, stdout: 'pipe' });
  const said = await new Response(client.stdout).text();
  return { status: await client.exited, said };
}

const updateFor = async ({ site, device }: Generations, root: IssuingCa) => {
  const infos = [typedValue(infoTypes.rootCaCert, root.certificate)];
  const { body, extraCerts } = await site
    .client(device)
    .send({ type: 'genm', infos }, { path: '/getrootupdate' });
  if (body.type !== 'genp') throw new Error(body.type);
  return { update: findValue(body.infos, infoTypes.rootCaKeyUpdate), extraCerts };
};

describe.each([
  ['before the switch', () => both.oldCa],
  ['after the switch', () => both.newCa],
] as const)('%s', (_, inUse) => {
  beforeAll(() => use(both, inUse()));

  test.each(['old.pem', 'new.pem'])('OpenSSL with %s alone checks the response', async (trusted) => {
    const { status, said } = await asked(trusted, '-infotype caCerts -cacertsout cas.pem');
    expect({ status, said }).toEqual({ status: 0, said });
    expect(said).toContain('received GENP');
  });

  test('a device with the old root gets the new root', async () => {
    const { update } = await updateFor(both, both.oldRoot);
    expect(update?.newWithNew).toEqual(both.newRoot.certificate);
    const verify = (anchor: string, link: Uint8Array | undefined) =>
      openssl(['verify', '-x509_strict', '-CAfile', 'anchor', 'link'], {
        anchor: pem('CERTIFICATE', anchor === 'old' ? both.oldRoot.certificate : both.newRoot.certificate),
        link: pem('CERTIFICATE', link!),
      }).text.trim();
    expect(verify('old', update?.newWithOld)).toBe('link: OK');
    expect(verify('new', update?.oldWithNew)).toBe('link: OK');
  });

  test('a device with the new root has the newest', async () => {
    expect((await updateFor(both, both.newRoot)).update).toBeUndefined();
  });

  test('extraCerts have a chain to either root, and no root', async () => {
    const { extraCerts } = await updateFor(both, both.oldRoot);
    const roots = [both.oldRoot, both.newRoot].map(({ certificate }) =>
      Buffer.from(certificate).toString('hex'),
    );
    expect(extraCerts).toHaveLength(3);
    for (const one of extraCerts) expect(roots).not.toContain(Buffer.from(one).toString('hex'));
  });
});

test('a revoked link certificate is not sent', async () => {
  const own = await generations();
  await using site = own.site;
  await use(own, own.newCa);
  const { update } = await updateFor(own, own.oldRoot);
  const { serialNumber } = parseCertificate(update!.newWithOld!);
  const link = await site.store.find('certificate', { ca: own.oldRoot.id, serialNumber });
  await site.gateway.certificates.revoke(site.admin, link!.id, { reason: 'superseded' });
  site.clock.advance(61_000);
  const { update: after, extraCerts } = await updateFor(own, own.oldRoot);
  expect(after?.newWithOld).toBeUndefined();
  expect(extraCerts).toHaveLength(2);
});
