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

test('caCerts: the certificates of the CAs of the domain', async () => {
  expect(findValue(await ask('/getcacerts', asking(infoTypes.caCerts)), infoTypes.caCerts)).toEqual(chain);
});

describe('a newer root', () => {
  test('there is none for the one in use, for one that is not ours, and when none is named', async () => {
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

  test('for one that was used before it is the root of the CA that the domain has now', async () => {
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

describe('a new key of the root', () => {
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

  test('comes with what the old key and the new key say of each other', () => {
    expect(update.newWithNew).toEqual(next!.certificate);
    const keyOf = (certificate: Uint8Array) => parseCertificate(certificate).spki;
    expect(keyOf(update.newWithOld!)).toEqual(keyOf(next!.certificate));
    expect(keyOf(update.oldWithNew!)).toEqual(keyOf(before!.certificate));
  });

  test('and OpenSSL follows it from either root to the other', () => {
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
    // What the old key has issued, to those who know the new root alone.
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

  test('has an empty value where the requester has to say one, and the kinds of keys', async () => {
    const { template: wanted, keySpec } = await template('opc_ua_client');
    expect(formatDistinguishedName(wanted.subject!)).toBe('CN=');
    expect(findValue(keySpec, controlTypes.rsaKeyLen)).toBe(2048);
    expect(keySpec.filter(({ type }) => type === controlTypes.algId.oid)).toHaveLength(3);
  });

  test('of an unknown profile there is none', async () => {
    const body = { type: 'genm', infos: [asking(infoTypes.certReqTemplate)] } as const;
    expect(failureOf(await site.client(pump).send(body, { path: '/p/~nothing' }))).toBe('badRequest');
  });
});

describe('CRLs', () => {
  const crls = async (...statuses: Parameters<typeof infoTypes.crlStatusList.add>[1]) =>
    findValue(await ask('/getcrls', typedValue(infoTypes.crlStatusList, statuses)), infoTypes.crls);
  const issuer = () => ({ kind: 'directory', value: parseCertificate(chain[0]!).subject }) as const;

  test('by issuer and by distribution point, each once', async () => {
    const byIssuer = { source: { kind: 'issuer', names: [issuer()] } } as const;
    const [crl, ...more] = (await crls(byIssuer))!;
    expect(more).toEqual([]);
    expect(parseCrl(crl!).issuer.der).toEqual(parseCertificate(chain[0]!).subject.der);
    const uri = parseGeneralName('URI:http://pki.example:8080/crl/2.crl');
    const byPoint = { source: { kind: 'distributionPoint', names: [uri] } } as const;
    expect(await crls(byPoint)).toEqual([crl!]);
    expect(await crls(byIssuer, byPoint)).toEqual([crl!]);
  });

  test('only those that are newer than what is there', async () => {
    const source = { kind: 'issuer', names: [issuer()] } as const;
    const [crl] = (await crls({ source }))!;
    const { thisUpdate } = parseCrl(crl!);
    expect(await crls({ source, thisUpdate })).toBeUndefined();
    expect(await crls({ source, thisUpdate: thisUpdate - 1000 })).toEqual([crl!]);
  });

  test('none of a CA that is not ours', async () => {
    const names = [parseGeneralName('DirName:CN=Somebody')];
    expect(await crls({ source: { kind: 'issuer', names } })).toBeUndefined();
  });

  test('currentCRL is that of the CA of the domain', async () => {
    const crl = findValue(await ask('/genm', asking(infoTypes.currentCrl)), infoTypes.currentCrl);
    expect(crl && parseCrl(crl).issuer.der).toEqual(parseCertificate(chain[0]!).subject.der);
  });
});

test('what nobody knows is named in unsupportedOIDs, beside the answers to the rest', async () => {
  const infos = await ask('', { type: '1.2.3.4' }, asking(infoTypes.suppLangTags), { type: '1.2.3.5' });
  expect(findValue(infos, infoTypes.unsupportedOids)).toEqual(['1.2.3.4', '1.2.3.5']);
  expect(findValue(infos, infoTypes.suppLangTags)).toEqual(['en']);
});

test('the kinds of keys that are certified, and that something can be encrypted to', async () => {
  const infos = await ask('', asking(infoTypes.signKeyPairTypes), asking(infoTypes.encKeyPairTypes));
  expect(findValue(infos, infoTypes.signKeyPairTypes)).toHaveLength(8);
  expect(findValue(infos, infoTypes.encKeyPairTypes)!.length).toBeGreaterThan(0);
});

test('who asks for nothing in particular gets what everybody needs', async () => {
  const infos = await ask('/genm');
  expect(findValue(infos, infoTypes.caCerts)).toEqual(chain);
  expect(hasValue(infos, infoTypes.signKeyPairTypes)).toBeTrue();
});

test('an operation of the path that asks for something else is refused', async () => {
  const body = { type: 'genm', infos: [asking(infoTypes.caCerts)] } as const;
  expect(failureOf(await site.client(pump).send(body, { path: '/getcrls' }))).toBe('badRequest');
});
