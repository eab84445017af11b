import { describe, expect, test } from 'bun:test';
import { controlTypes, regInfoTypes } from '#adapters/wire/cmp/controls.ts';
import { infoTypes } from '#adapters/wire/cmp/info-types.ts';
import { findValue, hasValue, typedValue, type ValueKind } from '#adapters/wire/cmp/typed-value.ts';
import { der } from '#core/der/builder.ts';
import { hex } from '#core/der/bytes.ts';
import { parseCertTemplate } from '#core/x509/crmf.ts';
import { buildCertTemplate } from '#core/x509/crmf-builder.ts';
import { parseGeneralName } from '#core/x509/general-name.ts';
import { certificate, issuer } from './samples.ts';

const algorithm = der((b) => b.sequence((s) => s.oid('1.3.101.112')));
const names = [{ kind: 'uri', value: 'x' }] as const;
const time = Date.UTC(2026, 0, 2, 3, 4, 5);
const key = {
  kind: 'encryptedValue',
  der: der((b) => b.sequence((s) => s.bitString(Uint8Array.of(1)))),
} as const;
const template = parseCertTemplate(buildCertTemplate({ issuer }));
const certId = { issuer: parseGeneralName('DirName:CN=ca'), serial: Uint8Array.of(7) };

/** The encoding is omitted if it is that of the value itself. */
type Row<T> = readonly [name: string, kind: ValueKind<T>, value: NoInfer<T>, encoding: string];
const row = <T>(name: string, kind: ValueKind<T>, value: NoInfer<T>, encoding = ''): Row<unknown> =>
  [name, kind, value, encoding] as unknown as Row<unknown>;

const rows = [
  row('caProtEncCert', infoTypes.caProtEncCert, certificate),
  row('signKeyPairTypes', infoTypes.signKeyPairTypes, [algorithm], '3007 300506032B6570'),
  row('encKeyPairTypes', infoTypes.encKeyPairTypes, [algorithm, algorithm]),
  row('preferredSymmAlg', infoTypes.preferredSymmAlg, algorithm, '300506032B6570'),
  row('caKeyUpdateInfo', infoTypes.caKeyUpdateInfo, {
    version: 2,
    update: { oldWithNew: certificate, newWithOld: certificate, newWithNew: certificate },
  }),
  row('currentCRL', infoTypes.currentCrl, algorithm),
  row('unsupportedOIDs', infoTypes.unsupportedOids, ['1.3.101.112'], '3005 06032B6570'),
  row('keyPairParamReq', infoTypes.keyPairParamReq, '1.3.101.112', '06032B6570'),
  row('keyPairParamRep', infoTypes.keyPairParamRep, algorithm),
  row('revPassphrase', infoTypes.revPassphrase, key),
  row('implicitConfirm', infoTypes.implicitConfirm, true, '0500'),
  row('confirmWaitTime', infoTypes.confirmWaitTime, time, '180F 32303236303130323033303430355A'),
  row('origPKIMessage', infoTypes.origPkiMessage, [certificate]),
  row('suppLangTags', infoTypes.suppLangTags, ['de', 'en'], '3008 0C026465 0C02656E'),
  row('caCerts', infoTypes.caCerts, [certificate, certificate]),
  row(
    'rootCaKeyUpdate',
    infoTypes.rootCaKeyUpdate,
    { newWithNew: algorithm, newWithOld: algorithm, oldWithNew: algorithm },
    '3019 300506032B6570 A007300506032B6570 A107300506032B6570',
  ),
  row(
    'certReqTemplate',
    infoTypes.certReqTemplate,
    { template, keySpec: [typedValue(controlTypes.rsaKeyLen, 3072)] },
    '3026 3011A30F300D310B300906035504030C026361 3011 300F 06092B0601050507050 10C 02020C00',
  ),
  row('certReqTemplate without keySpec', infoTypes.certReqTemplate, { template, keySpec: [] }),
  row('rootCaCert', infoTypes.rootCaCert, certificate),
  row('certProfile', infoTypes.certProfile, ['tls_server'], '300C 0C0A746C735F736572766572'),
  row(
    'crlStatusList of a distribution point',
    infoTypes.crlStatusList,
    [{ source: { kind: 'distributionPoint', names }, thisUpdate: time }],
    '3018 3016 A005A003860178 170D3236303130323033303430355A',
  ),
  row(
    'crlStatusList of a relative name',
    infoTypes.crlStatusList,
    [{ source: { kind: 'relativeName', rdn: algorithm } }],
    '300D 300B A009A107300506032B6570',
  ),
  row(
    'crlStatusList of an issuer',
    infoTypes.crlStatusList,
    [{ source: { kind: 'issuer', names } }],
    '3009 3007 A1053003860178',
  ),
  row('crls', infoTypes.crls, [algorithm]),
  row('kemCiphertextInfo', infoTypes.kemCiphertextInfo, algorithm),
  row('regToken', controlTypes.regToken, 'token', '0C05746F6B656E'),
  row('authenticator', controlTypes.authenticator, "mother's maiden name"),
  row(
    'pkiPublicationInfo',
    controlTypes.pkiPublicationInfo,
    { publish: true, places: [{ method: 'web', location: names[0]! }, { method: 'dontCare' }] },
    '3012 020101 300D 3006020102860178 3003020100',
  ),
  row(
    'pkiPublicationInfo that says no',
    controlTypes.pkiPublicationInfo,
    { publish: false, places: [] },
    '3003020100',
  ),
  row(
    'pkiArchiveOptions with the key',
    controlTypes.pkiArchiveOptions,
    { kind: 'encryptedPrivKey', key },
    'A006 3004 03020001',
  ),
  row(
    'pkiArchiveOptions with parameters',
    controlTypes.pkiArchiveOptions,
    { kind: 'keyGenParameters', parameters: Uint8Array.of(1) },
    '810101',
  ),
  row(
    'pkiArchiveOptions for the CA',
    controlTypes.pkiArchiveOptions,
    { kind: 'archiveRemGenPrivKey', archive: true },
    '8201FF',
  ),
  row('oldCertID', controlTypes.oldCertId, certId, '3014 A40F300D310B300906035504030C026361 020107'),
  row('protocolEncrKey', controlTypes.protocolEncrKey, algorithm),
  row('altCertTemplate', controlTypes.altCertTemplate, algorithm),
  row('algId', controlTypes.algId, algorithm),
  row('rsaKeyLen', controlTypes.rsaKeyLen, 2048, '02020800'),
  row('utf8Pairs', regInfoTypes.utf8Pairs, 'version?1%'),
  row('certReq', regInfoTypes.certReq, algorithm),
];

describe('values with an OID (InfoTypeAndValue)', () => {
  test.each(rows)('%s is read as it was written', (_name, kind, value, encoding) => {
    const written = typedValue(kind, value);
    expect(findValue([{ type: '1.2.3' }, written], kind)).toEqual(value);
    if (encoding) expect(hex(written.value)).toBe(encoding.replaceAll(' ', ''));
  });

  test('have the OIDs of RFC 9810 §5.3.19 and RFC 4211 §6 and §7', () => {
    const arcs = (table: Record<string, { readonly oid: string }>) =>
      Object.values(table).map(({ oid }) => oid.split('.').slice(0, -1).join('.'));
    const numbers = (table: Record<string, { readonly oid: string }>) =>
      Object.fromEntries(
        Object.entries(table).map(([name, { oid }]) => [name, Number(oid.split('.').at(-1))]),
      );
    expect(new Set(arcs(infoTypes))).toEqual(new Set(['1.3.6.1.5.5.7.4']));
    expect(new Set(arcs(controlTypes))).toEqual(new Set(['1.3.6.1.5.5.7.5.1']));
    expect(new Set(arcs(regInfoTypes))).toEqual(new Set(['1.3.6.1.5.5.7.5.2']));
    expect(numbers(infoTypes)).toEqual({
      caProtEncCert: 1,
      signKeyPairTypes: 2,
      encKeyPairTypes: 3,
      preferredSymmAlg: 4,
      caKeyUpdateInfo: 5,
      currentCrl: 6,
      unsupportedOids: 7,
      keyPairParamReq: 10,
      keyPairParamRep: 11,
      revPassphrase: 12,
      implicitConfirm: 13,
      confirmWaitTime: 14,
      origPkiMessage: 15,
      suppLangTags: 16,
      caCerts: 17,
      rootCaKeyUpdate: 18,
      certReqTemplate: 19,
      rootCaCert: 20,
      certProfile: 21,
      crlStatusList: 22,
      crls: 23,
      kemCiphertextInfo: 24,
    });
    expect(numbers(controlTypes)).toEqual({
      regToken: 1,
      authenticator: 2,
      pkiPublicationInfo: 3,
      pkiArchiveOptions: 4,
      oldCertId: 5,
      protocolEncrKey: 6,
      altCertTemplate: 7,
      algId: 11,
      rsaKeyLen: 12,
    });
    expect(numbers(regInfoTypes)).toEqual({ utf8Pairs: 1, certReq: 2 });
  });

  test('have different OIDs', () => {
    const tables = [infoTypes, controlTypes, regInfoTypes];
    const oids = tables.flatMap((table) => Object.values(table).map(({ oid }) => oid));
    expect(new Set(oids).size).toBe(oids.length);
  });

  test('are missing or empty in a request', () => {
    expect(findValue([], infoTypes.caCerts)).toBeUndefined();
    expect(findValue([{ type: infoTypes.caCerts.oid }], infoTypes.caCerts)).toBeUndefined();
    expect(hasValue([{ type: infoTypes.caCerts.oid }], infoTypes.caCerts)).toBe(true);
    expect(hasValue([{ type: infoTypes.caCerts.oid }], infoTypes.crls)).toBe(false);
  });

  test('are malformed when they occur twice', () => {
    const profile = typedValue(infoTypes.certProfile, ['a']);
    expect(() => findValue([profile, profile], infoTypes.certProfile)).toThrow('occurs twice');
  });

  test.each<[what: string, kind: ValueKind<unknown> | ValueKind<never>, value: string]>([
    ['another type', infoTypes.implicitConfirm as never, '0101FF'],
    ['something after the value', infoTypes.implicitConfirm as never, '05000500'],
    ['an empty list', infoTypes.certProfile as never, '3000'],
    ['an unknown archive option', controlTypes.pkiArchiveOptions as never, '8300'],
    [
      'an unknown publication method',
      controlTypes.pkiPublicationInfo as never,
      '300A 020101 3005 3003020104',
    ],
  ])('are malformed with %s', (_what, kind, encoding) => {
    const value = Uint8Array.from(Buffer.from(encoding.replaceAll(' ', ''), 'hex'));
    expect(() => findValue([{ type: kind.oid, value }], kind as ValueKind<unknown>)).toThrow(
      expect.objectContaining({ code: 'malformed' }),
    );
  });
});
