import { Type } from '@sinclair/typebox';
import type { RuntimeSettings } from '#core/configuration/runtime-settings.ts';
import type { Gateway } from '#core/gateway.ts';
import { securityLevels, usualLevel } from '#core/security/levels.ts';
import { readBody } from '../body.ts';
import { inputSchema, recordSchema } from '../collection-operations.ts';
import type { FieldDescription } from '../description.ts';
import { json } from '../errors.ts';
import { nullable } from '../fields.ts';
import { readInput } from '../input.ts';
import { jsonResponse, type Route } from '../route.ts';

const seconds = (least: number, most: number, description: string) =>
  Type.Integer({ minimum: least, maximum: most, description });

const fields = {
  access_token_seconds: {
    schema: seconds(60, 86_400, "how long a user's access token is good for; 900 unless changed"),
  },
  refresh_token_seconds: {
    schema: seconds(60, 2_592_000, "how long a user's refresh token is good for; 86400 unless changed"),
  },
  ca_warning_days: {
    schema: Type.Integer({
      minimum: 1,
      maximum: 3650,
      description: 'health warns of an issuing CA that expires within these days; 180 unless changed',
    }),
  },
  expiry_warning_days: {
    schema: Type.Integer({
      minimum: 1,
      maximum: 3650,
      description: '`/metrics` counts the certificates that run out within these days; 30 unless changed',
    }),
  },
  log_retention_days: {
    schema: nullable(
      Type.Integer({ minimum: 1, maximum: 3650 }),
      'rotated log files that are older are deleted; null, as it is unless changed, keeps them until rotation drops them',
    ),
  },
  webhook_warn_days: {
    schema: Type.Array(Type.Integer({ minimum: 1, maximum: 3650 }), {
      maxItems: 8,
      uniqueItems: true,
      description:
        'webhooks are told of a certificate this many days before it ends, once for each; 30, 7 and 1 unless changed',
    }),
  },
  webhook_hosts: {
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      maxItems: 100,
      uniqueItems: true,
      description:
        'the only hosts that webhooks may name, `*.example.com` for all below it; none, as it is unless changed: all hosts',
    }),
  },
  security_level: {
    schema: Type.String({
      enum: [...securityLevels],
      description: `what keys, validities and protocols have to come up to, the most lenient first; ${usualLevel} unless changed. \`/api/settings/security-levels/\` says what each demands`,
    }),
  },
} satisfies Record<string, FieldDescription>;

const toJson = (settings: RuntimeSettings) => ({
  access_token_seconds: settings.accessTokenSeconds,
  refresh_token_seconds: settings.refreshTokenSeconds,
  ca_warning_days: settings.caWarningDays,
  expiry_warning_days: settings.expiryWarningDays,
  log_retention_days: settings.logRetentionDays,
  webhook_warn_days: settings.webhookWarnDays,
  webhook_hosts: settings.webhookHosts,
  security_level: settings.securityLevel,
});

const schema = recordSchema(fields, true, 'Settings');
const example = {
  access_token_seconds: 900,
  refresh_token_seconds: 86_400,
  ca_warning_days: 180,
  expiry_warning_days: 30,
  log_retention_days: null,
  webhook_warn_days: [30, 7, 1],
  webhook_hosts: [],
  security_level: usualLevel,
};

/** `/api/settings`: what can be changed while the service runs. */
export const settingsRoutes = (gateway: Gateway): readonly Route[] => [
  {
    method: 'GET',
    path: '/api/settings',
    operation: {
      id: 'readSettings',
      tag: 'settings',
      summary: 'Read the settings that can be changed while the service runs',
      permission: 'settings.read',
      responses: { 200: jsonResponse('The settings.', schema, example) },
    },
    handle: async (principal) => json(200, toJson(await gateway.settings.read(principal))),
  },
  {
    method: 'PATCH',
    path: '/api/settings',
    operation: {
      id: 'changeSettings',
      tag: 'settings',
      summary: 'Change those settings that are sent',
      permission: 'settings.write',
      body: {
        schema: inputSchema(fields, 'change', 'SettingsChanges'),
        example: { access_token_seconds: 600 },
      },
      responses: { 200: jsonResponse('The settings as they are now.', schema, example) },
      failures: {
        409: 'A CA that is active, or a profile that a domain offers, falls short of the stricter security level.',
      },
    },
    async handle(principal, request) {
      const changes = readInput(fields, await readBody(request), 'change');
      return json(200, toJson(await gateway.settings.change(principal, changes)));
    },
  },
];
