import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { controlTypes } from '#adapters/wire/cmp/controls.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import { findValue, hasValue, type TypedValue, typedValue } from '#adapters/wire/cmp/typed-value.ts';
import type { RootUpdate } from '#core/ca/root-update.ts';
import { sameBytes } from '#core/der/bytes.ts';
import type { IssuingCa } from '#core/records/issuing-ca.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import { parseCrl } from '#core/x509/crl.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { testCa } from '#tests/fixtures/certificates.ts';
import { type CmpCredential, failureOf } from '#tests/fixtures/cmp-client.ts';
import { offer } from '#tests/fixtures/installation.ts';
import { openssl, pem } from '#tests/fixtures/openssl.ts';
import { type CmpSite, cmpSite } from './fixture.ts';

let site: CmpSite;
let pump: CmpCredential;
let chain: readonly Uint8Array[];

beforeAll(async () => {
  site = await cmpSite();
  await offer(site, 'opc_ua_client');
  pump = await site.cmpDevice('pump-1');
  chain = await site.gateway.caCertificates(undefined);
  await site.gateway.maintain('test');
});
afterAll(() => site[Symbol.asyncDispose]());

const ask = (path: string, ...infos: TypedValue[]): Promise<readonly TypedValue[]> =>
  askAt(site, pump, path, ...infos);

async function askAt(
  at: CmpSite,
  credential: CmpCredential,
  path: string,
  ...infos: TypedValue[]
): Promise<readonly TypedValue[]> {
  const { body } = await at.client(credential).send({ type: 'genm', infos }, { path });
  if (body.type !== 'genp') throw new Error(JSON.stringify(body));
  return body.infos;
}

const asking = ({ oid }: { readonly oid: string }): TypedValue => ({ type: oid });

test('caCerts returns the CA certificates of the domain', async () => {
  expect(findValue(await ask('/getcacerts', asking(infoTypes.caCerts)), infoTypes.caCerts)).toEqual(chain);
});

describe('rootCaCert', () => {
  test('returns nothing for the current root, for an unknown one, and without a root', async () => {
    const foreign = testCa('p-256').certificate.der;
    for (const info of [
      typedValue(infoTypes.rootCaCert, chain[1]!),
      typedValue(infoTypes.rootCaCert, foreign),
      asking(infoTypes.rootCaCert),
    ]) {
      const infos = await ask('/getrootupdate', info);
      expect(hasValue(infos, infoTypes.rootCaKeyUpdate)).toBeTrue();
      expect(findValue(infos, infoTypes.rootCaKeyUpdate)).toBeUndefined();
    }
  });

  test('returns the new root for one that was used before', async () => {
    const { id: ca, certificate } = await site.gateway.issuingCas.create(site.admin, {
      uniqueName: 'second-root',
      type: 0,
      commonName: 'Second Root',
    });
    const { records } = await site.gateway.domains.list(site.admin, { limit: 1 });
    const before = records[0]!.issuingCa;
    await site.gateway.domains.update(site.admin, records[0]!.id, { issuingCa: ca });
    const infos = await ask('/getrootupdate', typedValue(infoTypes.rootCaCert, chain[1]!));
    await site.gateway.domains.update(site.admin, records[0]!.id, { issuingCa: before });
    expect(findValue(infos, infoTypes.rootCaKeyUpdate)).toEqual({ newWithNew: certificate });
  });
});

describe('a new root with another key', () => {
  let site: CmpSite;
  let chain: readonly Uint8Array[];
  let [before, next]: IssuingCa[] = [];
  let update: RootUpdate;

  beforeAll(async () => {
    site = await cmpSite();
    chain = await site.gateway.caCertificates(undefined);
    const pump = await site.cmpDevice('pump-1');
    const { records } = await site.gateway.issuingCas.list(site.admin, { limit: 10 });
    before = records.find(({ certificate }) => sameBytes(certificate, chain[1]!))!;
    site.clock.advance(24 * 3_600_000);
    next = await site.gateway.issuingCas.create(site.admin, {
      uniqueName: 'root of the second generation',
      type: 0,
      subject: formatDistinguishedName(parseCertificate(before.certificate).subject),
    });
    const domain = (await site.gateway.domains.list(site.admin, { limit: 1 })).records[0]!;
    await site.gateway.domains.update(site.admin, domain.id, { issuingCa: next.id });
    const own = typedValue(infoTypes.rootCaCert, before.certificate);
    const infos = await askAt(site, pump, '/getrootupdate', own);
    update = findValue(infos, infoTypes.rootCaKeyUpdate)!;
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test('comes with link certificates in both directions', () => {
    expect(update.newWithNew).toEqual(next!.certificate);
    const keyOf = (certificate: Uint8Array) => parseCertificate(certificate).spki;
    expect(keyOf(update.newWithOld!)).toEqual(keyOf(next!.certificate));
    expect(keyOf(update.oldWithNew!)).toEqual(keyOf(before!.certificate));
  });

  test('is followed by OpenSSL from either root to the other', () => {
    const certificates = {
      old: pem('CERTIFICATE', before!.certificate),
      new: pem('CERTIFICATE', next!.certificate),
      oldWithNew: pem('CERTIFICATE', update.oldWithNew!),
      newWithOld: pem('CERTIFICATE', update.newWithOld!),
      issuing: pem('CERTIFICATE', chain[0]!),
    };
    const time = String(Math.floor(site.clock.now() / 1000));
    const verify = (...args: string[]) =>
      openssl(['verify', '-x509_strict', '-attime', time, ...args], certificates).text.trim();
    expect(verify('-CAfile', 'old', 'newWithOld')).toBe('newWithOld: OK');
    expect(verify('-CAfile', 'new', 'oldWithNew')).toBe('oldWithNew: OK');
    // A certificate under the old key, verified with the new root only.
    expect(verify('-CAfile', 'new', '-untrusted', 'oldWithNew', 'issuing')).toBe('issuing: OK');
    expect(verify('-CAfile', 'new', 'issuing')).toContain('verification failed');
  });
});

describe('certReqTemplate', () => {
  const template = async (profile: string) => {
    const infos = await ask(`/p/~${profile}/getcertreqtemplate`, asking(infoTypes.certReqTemplate));
    return findValue(infos, infoTypes.certReqTemplate)!;
  };

  test('has the name that the profile fixes for this device', async () => {
    const { template: wanted, keySpec } = await template('domain_credential');
    expect(formatDistinguishedName(wanted.subject!)).toBe('CN=pump-1');
    expect(keySpec).toEqual([]);
  });

  test('has an empty value where the requester must send one, and the key types', async () => {
    const { template: wanted, keySpec } = await template('opc_ua_client');
    expect(formatDistinguishedName(wanted.subject!)).toBe('CN=');
    expect(findValue(keySpec, controlTypes.rsaKeyLen)).toBe(2048);
    expect(keySpec.filter(({ type }) => type === controlTypes.algId.oid)).toHaveLength(3);
  });

  test('does not exist for an unknown profile', async () => {
    const body = { type: 'genm', infos: [asking(infoTypes.certReqTemplate)] } as const;
    expect(failureOf(await site.client(pump).send(body, { path: '/p/~nothing' }))).toBe('badRequest');
  });
});

describe('CRLs', () => {
  const crls = async (...statuses: Parameters<typeof infoTypes.crlStatusList.add>[1]) =>
    findValue(await ask('/getcrls', typedValue(infoTypes.crlStatusList, statuses)), infoTypes.crls);
  const issuer = () => ({ kind: 'directory', value: parseCertificate(chain[0]!).subject }) as const;

  test('are returned by issuer and by distribution point, each once', async () => {
    const byIssuer = { source: { kind: 'issuer', names: [issuer()] } } as const;
    const [crl, ...more] = (await crls(byIssuer))!;
    expect(more).toEqual([]);
    expect(parseCrl(crl!).issuer.der).toEqual(parseCertificate(chain[0]!).subject.der);
    const uri = parseGeneralName('URI:http://pki.example:8080/crl/2.crl');
    const byPoint = { source: { kind: 'distributionPoint', names: [uri] } } as const;
    expect(await crls(byPoint)).toEqual([crl!]);
    expect(await crls(byIssuer, byPoint)).toEqual([crl!]);
  });

  test('are returned only if they are newer than the given one', async () => {
    const source = { kind: 'issuer', names: [issuer()] } as const;
    const [crl] = (await crls({ source }))!;
    const { thisUpdate } = parseCrl(crl!);
    expect(await crls({ source, thisUpdate })).toBeUndefined();
    expect(await crls({ source, thisUpdate: thisUpdate - 1000 })).toEqual([crl!]);
  });

  test('of an unknown CA are not returned', async () => {
    const names = [parseGeneralName('DirName:CN=Somebody')];
    expect(await crls({ source: { kind: 'issuer', names } })).toBeUndefined();
  });

  test('of the CA of the domain are returned by currentCRL', async () => {
    const crl = findValue(await ask('/genm', asking(infoTypes.currentCrl)), infoTypes.currentCrl);
    expect(crl && parseCrl(crl).issuer.der).toEqual(parseCertificate(chain[0]!).subject.der);
  });
});

test('unknown OIDs are listed in unsupportedOIDs, beside the other answers', async () => {
  const infos = await ask('', { type: '1.2.3.4' }, asking(infoTypes.suppLangTags), { type: '1.2.3.5' });
  expect(findValue(infos, infoTypes.unsupportedOids)).toEqual(['1.2.3.4', '1.2.3.5']);
  expect(findValue(infos, infoTypes.suppLangTags)).toEqual(['en']);
});

test('key types for certificates and for encryption are returned', async () => {
  const infos = await ask('', asking(infoTypes.signKeyPairTypes), asking(infoTypes.encKeyPairTypes));
  expect(findValue(infos, infoTypes.signKeyPairTypes)).toHaveLength(8);
  expect(findValue(infos, infoTypes.encKeyPairTypes)!.length).toBeGreaterThan(0);
});

test('a genm without a question gets the general information', async () => {
  const infos = await ask('/genm');
  expect(findValue(infos, infoTypes.caCerts)).toEqual(chain);
  expect(hasValue(infos, infoTypes.signKeyPairTypes)).toBeTrue();
});

test('an operation in the path that differs from the message is rejected', async () => {
  const body = { type: 'genm', infos: [asking(infoTypes.caCerts)] } as const;
  expect(failureOf(await site.client(pump).send(body, { path: '/getcrls' }))).toBe('badRequest');
});
