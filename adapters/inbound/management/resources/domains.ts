import { Type } from '@sinclair/typebox';
import type { DomainInput } from '#core/administration/domains.ts';
import type { Domain } from '#core/records/domain.ts';
import type { Description } from '../description.ts';
import { timestamp } from '../description.ts';
import { nullable, reference, text } from '../fields.ts';
import { createdAtField, idField } from './common-fields.ts';

const domainProfile = Type.Object(
  { profile: reference('a certificate profile'), alias: Type.Optional(nullable(text(100, { min: 1 }))) },
  { additionalProperties: false },
);

export const domains: Description<'domain', DomainInput, Domain> = {
  path: '/api/domains',
  tag: 'domains',
  kind: 'domain',
  permissions: { read: 'domains.read', write: 'domains.write' },
  fields: {
    id: idField,
    unique_name: { schema: text(100, { min: 1 }), required: true, orderable: true },
    created_at: createdAtField,
    issuing_ca: {
      schema: nullable(reference('the CA that signs for the domain; default: that of the default domain')),
      orderable: true,
    },
    profiles: {
      schema: Type.Array(domainProfile, {
        maxItems: 200,
        description: 'the offered profiles; default: those of the default domain',
      }),
      toInput: (value) =>
        (value as { profile: number; alias?: string | null }[]).map(({ profile, alias }) => ({
          profile,
          alias: alias ?? null,
        })),
    },
  },
  toJson: ({ id, uniqueName, createdAt, issuingCa, profiles }) => ({
    id,
    unique_name: uniqueName,
    created_at: timestamp(createdAt),
    issuing_ca: issuingCa,
    profiles,
  }),
  example: {
    id: 2,
    unique_name: 'plant-7',
    created_at: '2026-03-02T08:15:30.000',
    issuing_ca: 2,
    profiles: [{ profile: 1, alias: null }],
  },
  conflicts: {
    update: 'The default domain cannot be renamed.',
    remove: 'The domain is the default domain, or devices, certificates or DevID registrations still use it.',
  },
  operations: (gateway) => gateway.domains,
};
