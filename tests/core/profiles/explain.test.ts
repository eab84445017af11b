import { expect, test } from 'bun:test';
import { keyUsageExtension } from '#core/x509/extensions/usage.ts';
import { apply, surroundings } from './rehearsal.ts';

test('an explained outcome has the value and the reason of each field', () => {
  const rules = {
    keys: { allowed: ['p-256'] },
    validity: { until: '9999-12-31T23:59:59Z' },
    subject: {
      CN: { fixed: '{device.common_name}', unfit: 'drop' },
      O: { default: '{domain.unique_name}' },
      C: { default: '{domain.unique_name}' },
      OU: {},
    },
    subjectAltName: { dns: { default: '{request.common_name}' } },
    extensions: {
      basicConstraints: { ca: false },
      keyUsage: { fixed: ['digitalSignature', 'keyEncipherment'], unfit: 'drop' },
      extendedKeyUsage: { default: ['clientAuth'] },
      crlDistributionPoints: { service: true },
      custom: { '1.2.3.4': { fixed: { text: 'hello' } } },
    },
    others: { subject: 'drop', subjectAltName: 'drop', extensions: 'drop' },
  };
  const outcome = apply(rules, {
    subject: 'UID=7,OU=West,CN=gate',
    names: ['IP:10.0.0.1', 'IP:10.0.0.1'],
    extensions: [
      keyUsageExtension(['keyAgreement']),
      { oid: '1.2.3.9', critical: false, value: Uint8Array.of(5, 0) },
    ],
  });
  const lines = outcome.explain().map(({ field, value, because }) => `${field} = ${value} | ${because}`);
  expect(lines).toEqual([
    'keys = p-256 | allowed by the profile',
    'subject.UID =  | "7" is omitted: the profile does not allow it',
    'subject.CN =  | "gate" is omitted: it is not allowed: the profile fixes "pump-1"',
    'subject.CN = pump-1 | fixed by the profile',
    'subject.O = plant | default of the profile',
    'subject.C =  | the default {domain.unique_name} gives none: "plant" is not a country code of two letters',
    'subject.OU = West | requested',
    'subjectAltName.ip =  | "10.0.0.1" is omitted: it occurs twice',
    'subjectAltName.ip =  | "10.0.0.1" is omitted: the profile does not allow it',
    'subjectAltName.dns = pump-1 | default of the profile',
    'extensions.1.2.3.9 =  | omitted: the profile does not allow it',
    'extensions.basicConstraints = no CA | fixed by the profile',
    'extensions.subjectKeyIdentifier = of the key | in every certificate (RFC 5280 §4.2.1.2)',
    'extensions.authorityKeyIdentifier = of the CA | in every certificate (RFC 5280 §4.2.1.1)',
    'extensions.keyUsage =  | keyAgreement is omitted: the profile does not allow it',
    'extensions.keyUsage = digitalSignature, keyEncipherment | fixed by the profile',
    'extensions.keyUsage =  | keyEncipherment is omitted: p-256 keys cannot be used for it',
    'extensions.extendedKeyUsage = clientAuth | default of the profile',
    'extensions.crlDistributionPoints = http://pki.example/crl/1.crl | required by the profile',
    'extensions.custom.1.2.3.4 = hello | fixed by the profile',
    'notBefore = 2026-05-17T11:30:15Z | set back an hour, for devices with slow clocks',
    'notAfter = 2060-01-01T00:00:00Z | the CA certificate expires then; the profile permits 9999-12-31T23:59:59Z',
  ]);
});

test('outcomes of a new CA, and with every type of key, are explained', () => {
  const issuer = { ...surroundings.issuer, notBefore: surroundings.now - 1000 };
  const outcome = apply(
    { validity: { duration: 'P1M' }, subject: { CN: {} } },
    { subject: 'CN=x' },
    { issuer },
  );
  expect(outcome.explain()).toEqual([
    { field: 'keys', value: 'p-256', because: 'the profile allows every type of key' },
    { field: 'subject.CN', value: 'x', because: 'requested' },
    {
      field: 'extensions.subjectKeyIdentifier',
      value: 'of the key',
      because: 'in every certificate (RFC 5280 §4.2.1.2)',
    },
    {
      field: 'extensions.authorityKeyIdentifier',
      value: 'of the CA',
      because: 'in every certificate (RFC 5280 §4.2.1.1)',
    },
    { field: 'notBefore', value: '2026-05-17T12:30:14Z', because: 'the CA certificate is not valid before' },
    { field: 'notAfter', value: '2026-06-17T12:30:15Z', because: 'P1M' },
  ]);
});
