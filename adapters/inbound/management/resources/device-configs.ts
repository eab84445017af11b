import { Type } from '@sinclair/typebox';
import type {
  NoOnboardingInput,
  NoOnboardingView,
  OnboardingInput,
  OnboardingView,
} from '#core/devices/configs.ts';
import { onboardingStatus } from '#core/records/device.ts';
import { fingerprint, parseCertificate } from '#core/x509/certificate.ts';
import { formatDistinguishedName } from '#core/x509/name.ts';
import { type Description, type FieldDescription, timestamp } from '../description.ts';
import { dateTime, integerEnum, nullable, reference } from '../fields.ts';
import { createdAtField, idField } from './common-fields.ts';

const protocol = Type.Union([
  Type.Literal('cmp'),
  Type.Literal('est'),
  Type.Literal('rest'),
  Type.Literal('manual'),
]);
const shared = Type.String({ minLength: 16, maxLength: 256, pattern: '^[\\x21-\\x7e]*$', verbatim: true });

const secrets: Readonly<Record<string, FieldDescription>> = {
  protocols: {
    schema: Type.Array(protocol, {
      uniqueItems: true,
      maxItems: 4,
      description: 'protocols that the device may use; default: cmp, est, rest',
    }),
    whenMissing: ['cmp', 'est', 'rest'],
  },
  est_password: {
    schema: nullable(
      shared,
      'for HTTP Basic (EST and REST); generated if omitted; null if your role may not read secrets',
    ),
  },
  cmp_shared_secret: { schema: nullable(shared, 'for CMP message protection; generated if omitted') },
};

const secretsJson = (config: NoOnboardingView): Readonly<Record<string, unknown>> => ({
  id: config.id,
  created_at: timestamp(config.createdAt),
  protocols: config.protocols,
  est_password: config.estPassword,
  cmp_shared_secret: config.cmpSharedSecret,
});

const idevid = Type.Object(
  {
    subject: Type.String({ description: 'RFC 4514' }),
    issuer: Type.String({ description: 'RFC 4514' }),
    serial_number: Type.String({ description: 'of the certificate, upper-case hexadecimal' }),
    not_valid_after: dateTime('notAfter'),
    fingerprint: Type.String({ description: 'SHA-256, upper-case hexadecimal' }),
  },
  { additionalProperties: false },
);

function shownIdevid(der: Uint8Array) {
  const { subject, issuer, serialNumber, notAfter } = parseCertificate(der);
  return {
    subject: formatDistinguishedName(subject),
    issuer: formatDistinguishedName(issuer),
    serial_number: serialNumber,
    not_valid_after: timestamp(notAfter),
    fingerprint: fingerprint(der),
  };
}

const permissions = { read: 'devices.read', write: 'devices.write' } as const;
const conflicts = { remove: 'A device still uses it.' } as const;
const secretsExample = {
  id: 7,
  created_at: '2026-03-02T08:15:30.000',
  protocols: ['cmp', 'est', 'rest'],
  est_password: 'xJ0uZ0Y5hKc3nGm5Rj8Q2wVt1bYl7aSd9eFf4oPp6iI',
  cmp_shared_secret: 'b7mQw2Xc9vKz5nLp3rTy8sHd1fGj6aUe4oIi0BtWqZk',
} as const;

export const noOnboardingConfigs: Description<'noOnboardingConfig', NoOnboardingInput, NoOnboardingView> = {
  path: '/api/no-onboarding-configs',
  tag: 'devices',
  kind: 'noOnboardingConfig',
  permissions,
  fields: { id: idField, created_at: createdAtField, ...secrets },
  toJson: secretsJson,
  example: secretsExample,
  conflicts,
  operations: (gateway) => gateway.noOnboardingConfigs,
};

export const onboardingConfigs: Description<'onboardingConfig', OnboardingInput, OnboardingView> = {
  path: '/api/onboarding-configs',
  tag: 'devices',
  kind: 'onboardingConfig',
  permissions,
  fields: {
    id: idField,
    created_at: createdAtField,
    ...secrets,
    onboarding_status: {
      schema: integerEnum({
        [onboardingStatus.pending]: 'pending',
        [onboardingStatus.onboarded]: 'onboarded',
      }),
      whenMissing: onboardingStatus.pending,
    },
    onboarding_protocol: {
      schema: nullable(protocol, 'protocol that it was onboarded with'),
      whenMissing: null,
    },
    idevid_truststore: {
      schema: nullable(reference('truststore of usage IDevID that the IDevID must chain to')),
      whenMissing: null,
    },
    idevid: {
      schema: nullable(
        idevid,
        'the IDevID that onboarded the device; another IDevID is accepted only after the onboarding is reset',
      ),
      readOnly: true,
      detailOnly: true,
    },
  },
  toJson: (config, detail) => ({
    ...secretsJson(config),
    onboarding_status: config.onboardingStatus,
    onboarding_protocol: config.onboardingProtocol,
    idevid_truststore: config.idevidTruststore,
    ...(detail && { idevid: config.idevid && shownIdevid(config.idevid) }),
  }),
  example: {
    ...secretsExample,
    onboarding_status: 1,
    onboarding_protocol: null,
    idevid_truststore: null,
    idevid: null,
  },
  conflicts,
  operations: (gateway) => gateway.onboardingConfigs,
};
