import { Type } from '@sinclair/typebox';
import type { ProfileInput } from '#core/administration/profiles.ts';
import { profileRulesSchema } from '#core/profiles/language.ts';
import type { CertificateProfile } from '#core/records/domain.ts';
import { type Description, type FieldDescription, timestamp } from '../description.ts';
import { text } from '../fields.ts';
import { equalText, within } from '../filters.ts';
import { createdAtField, idField } from './common-fields.ts';

/** The core validates the rules and reports the location of each problem. */
export const rulesField = (description: string): FieldDescription => ({
  schema: Type.Object({}, { additionalProperties: true }),
  documented: Type.Unsafe({ ...profileRulesSchema, $id: 'ProfileRules', description }),
});

export const exampleRules = {
  validity: { duration: 'P90D' },
  subject: { CN: { fixed: '{device.common_name}' } },
  extensions: { extendedKeyUsage: { fixed: ['clientAuth'] } },
};

export const certProfiles: Description<'profile', ProfileInput, CertificateProfile> = {
  path: '/api/cert-profiles',
  tag: 'cert-profiles',
  kind: 'profile',
  permissions: { read: 'profiles.read', write: 'profiles.write' },
  fields: {
    id: idField,
    unique_name: { schema: text(255, { min: 1 }), required: true, orderable: true },
    created_at: createdAtField,
    profile: rulesField('the rules; default: the rules of tls_client'),
  },
  filters: { created_at: within('createdAt'), unique_name: equalText('uniqueName') },
  toJson: ({ id, uniqueName, createdAt, profile }) => ({
    id,
    unique_name: uniqueName,
    created_at: timestamp(createdAt),
    profile,
  }),
  example: {
    id: 12,
    unique_name: 'pump_tls',
    created_at: '2026-03-02T08:15:30.000',
    profile: exampleRules,
  },
  conflicts: {
    update: 'The profile `domain_credential` cannot be renamed.',
    remove: 'Domains or certificates still use it.',
  },
  operations: (gateway) => gateway.profiles,
};
