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
    schema: seconds(60, 86_400, "lifetime of a user's access token; default: 900"),
  },
  refresh_token_seconds: {
    schema: seconds(60, 2_592_000, "lifetime of a user's refresh token; default: 86400"),
  },
  ca_warning_days: {
    schema: Type.Integer({
      minimum: 1,
      maximum: 3650,
      description: 'days before expiry of an issuing CA at which health warns; default: 180',
    }),
  },
  expiry_warning_days: {
    schema: Type.Integer({
      minimum: 1,
      maximum: 3650,
      description: '`/metrics` counts certificates that expire within this number of days; default: 30',
    }),
  },
  log_retention_days: {
    schema: nullable(
      Type.Integer({ minimum: 1, maximum: 3650 }),
      'days after which rotated log files are deleted; null (default) keeps them until rotation removes them',
    ),
  },
  webhook_warn_days: {
    schema: Type.Array(Type.Integer({ minimum: 1, maximum: 3650 }), {
      maxItems: 8,
      uniqueItems: true,
      description:
        'days before the expiry of a certificate at which webhooks are notified, once each; default: 30, 7 and 1',
    }),
  },
  webhook_hosts: {
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      maxItems: 100,
      uniqueItems: true,
      description:
        'hosts allowed in webhook URLs, `*.example.com` for all subdomains; default: empty, all hosts',
    }),
  },
  security_level: {
    schema: Type.String({
      enum: [...securityLevels],
      description: `minimum requirements for keys, validities and protocols, in ascending order; default: ${usualLevel}. \`/api/settings/security-levels/\` lists the requirements`,
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

/** `/api/settings`: settings that take effect without a restart. */
export const settingsRoutes = (gateway: Gateway): readonly Route[] => [
  {
    method: 'GET',
    path: '/api/settings',
    operation: {
      id: 'readSettings',
      tag: 'settings',
      summary: 'Read the runtime settings',
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
      summary: 'Change some of the runtime settings',
      permission: 'settings.write',
      body: {
        schema: inputSchema(fields, 'change', 'SettingsChanges'),
        optional: true,
        example: { access_token_seconds: 600 },
      },
      responses: { 200: jsonResponse('The updated settings.', schema, example) },
      failures: {
        409: 'An active CA or an offered profile does not meet the new security level.',
      },
    },
    async handle(principal, request) {
      const changes = readInput(fields, await readBody(request), 'change');
      return json(200, toJson(await gateway.settings.change(principal, changes)));
    },
  },
];
