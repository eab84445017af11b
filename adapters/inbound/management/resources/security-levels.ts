import { Type } from '@sinclair/typebox';
import type { LevelView } from '#core/administration/security-levels.ts';
import type { Gateway } from '#core/gateway.ts';
import { levels, securityLevels } from '#core/security/levels.ts';
import { json } from '../errors.ts';
import { nullable } from '../fields.ts';
import { jsonResponse, type Route } from '../route.ts';

const closed = { additionalProperties: false };
const flag = (description: string) => Type.Boolean({ description });
const keyDemands = (whose: string) =>
  Type.Object(
    {
      minimum_rsa_bits: Type.Integer(),
      kinds: Type.Array(Type.String(), { description: 'allowed key types other than RSA' }),
      longest_years: nullable(Type.Integer(), 'the longest validity in years; null: unlimited'),
    },
    { ...closed, description: `requirements for certificates of ${whose}` },
  );

const levelSchema = Type.Object(
  {
    level: Type.String({ enum: [...securityLevels] }),
    summary: Type.String(),
    is_current: flag('whether the service is at this level'),
    end_entity: keyDemands('devices and servers'),
    ca: keyDemands('CAs'),
    endless: flag('true if certificates may have no expiry date (9999-12-31), up to the expiry of their CA'),
    banned_signatures: Type.Array(Type.String(), {
      description: 'signature algorithms that are not allowed',
    }),
    est_passwords: flag('whether devices may use passwords over EST'),
    rest_passwords: flag('whether devices may use passwords over REST'),
    cmp_shared_secrets: Type.String({
      enum: ['everywhere', 'tls', 'never'],
      description: 'whether CMP messages may be protected by a MAC; `tls`: only over HTTPS',
    }),
    minimum_tls: Type.String({
      enum: ['TLSv1.2', 'TLSv1.3'],
      description: 'minimum TLS version of the listener after its next start',
    }),
    obstacles: Type.Array(
      Type.Object(
        {
          collection: Type.String({ enum: ['issuing-cas', 'cert-profiles'] }),
          id: Type.Integer(),
          unique_name: Type.String(),
          detail: Type.String(),
        },
        closed,
      ),
      { description: 'active CAs and offered profiles that do not meet the level' },
    ),
  },
  { ...closed, $id: 'SecurityLevel' },
);

const levelToJson = ({ rules, isCurrent, obstacles }: LevelView) => {
  const demands = (holder: 'endEntity' | 'ca') => ({
    minimum_rsa_bits: rules.keys[holder].minimumRsaBits,
    kinds: rules.keys[holder].kinds,
    longest_years: rules.years[holder],
  });
  return {
    level: rules.level,
    summary: rules.summary,
    is_current: isCurrent,
    end_entity: demands('endEntity'),
    ca: demands('ca'),
    endless: rules.endless,
    banned_signatures: rules.bannedSignatures,
    est_passwords: rules.sharedSecrets.est,
    rest_passwords: rules.sharedSecrets.rest,
    cmp_shared_secrets: rules.sharedSecrets.cmp,
    minimum_tls: rules.minimumTls,
    obstacles: obstacles.map(({ kind, id, uniqueName, detail }) => ({
      collection: kind === 'issuingCa' ? 'issuing-cas' : 'cert-profiles',
      id,
      unique_name: uniqueName,
      detail,
    })),
  };
};

const levelExample = levelToJson({
  rules: levels.critical,
  isCurrent: false,
  obstacles: [
    {
      kind: 'issuingCa',
      id: 2,
      uniqueName: 'issuing',
      detail: 'the security level critical does not allow p-256 keys for a CA',
    },
  ],
});

export const securityLevelsRoute = (gateway: Gateway): Route => ({
  method: 'GET',
  path: '/api/settings/security-levels',
  operation: {
    id: 'listSecurityLevels',
    tag: 'settings',
    summary: 'List the security levels with their requirements and the records that do not meet them',
    permission: 'settings.read',
    responses: {
      200: jsonResponse('All levels, the most lenient first.', Type.Array(levelSchema), [levelExample]),
    },
  },
  handle: async (principal) => json(200, (await gateway.settings.levels(principal)).map(levelToJson)),
});
