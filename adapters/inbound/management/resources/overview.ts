import { type TSchema, Type } from '@sinclair/typebox';
import type { Permission } from '#core/access/permissions.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Share } from '#core/overview/overview.ts';
import { timestamp } from '../description.ts';
import { json } from '../errors.ts';
import { dateTime, nullable } from '../fields.ts';
import { jsonResponse, type Route } from '../route.ts';

const closed = { additionalProperties: false } as const;
const capped = Type.Boolean({ description: 'true if the count stopped at its limit' });
const shares = (member: string) =>
  Type.Array(Type.Object({ [member]: nullable(Type.Integer()), count: Type.Integer() }, closed), {
    description: 'the twenty largest counts',
  });
const shareJson = (member: string, of: readonly Share[]) =>
  of.map(({ id, count }) => ({ [member]: id, count }));

const timeZone = Type.String({
  maxLength: 64,
  description: 'IANA name of the time zone whose calendar days are counted, `Europe/Berlin`; default: UTC',
});

/** Figures for the overview. The cost of each is independent of the number of records. */
export const overviewRoutes = ({ overview }: Gateway): readonly Route[] => [
  figure({
    name: 'issuance',
    id: 'readIssuance',
    summary: 'Count the certificates issued per day in the last 30 days',
    permission: 'certificates.read',
    byDay: true,
    schema: Type.Object(
      {
        days: Type.Array(
          Type.Object(
            {
              begins: dateTime('midnight'),
              by_protocol: Type.Record(Type.String(), Type.Integer()),
              is_capped: capped,
            },
            closed,
          ),
        ),
        by_domain: shares('domain'),
        by_profile: shares('cert_profile'),
      },
      { $id: 'Issuance', ...closed },
    ),
    example: {
      days: [{ begins: '2026-03-02T00:00:00.000', by_protocol: { est: 120, cmp: 7 }, is_capped: false }],
      by_domain: [{ domain: 1, count: 127 }],
      by_profile: [{ cert_profile: 2, count: 127 }],
    },
    async read(principal, timeZone) {
      const { days, byDomain, byProfile } = await overview.issuance(principal, timeZone);
      return {
        days: days.map(({ begins, byProtocol, isCapped }) => ({
          begins: timestamp(begins),
          by_protocol: byProtocol,
          is_capped: isCapped,
        })),
        by_domain: shareJson('domain', byDomain),
        by_profile: shareJson('cert_profile', byProfile),
      };
    },
  }),
  figure({
    name: 'expiry',
    id: 'readExpiry',
    summary: 'Count the certificates expiring per day within 30 days, and all certificates',
    permission: 'certificates.read',
    byDay: true,
    schema: Type.Object(
      {
        days: Type.Array(
          Type.Object(
            {
              begins: dateTime('midnight'),
              count: Type.Integer({ description: 'valid certificates that expire on this day' }),
              is_capped: capped,
            },
            closed,
          ),
        ),
        total: Type.Integer({ description: 'certificates on record, a million at most' }),
        active: Type.Integer({ description: 'good and within the validity period, a million at most' }),
        expired: Type.Integer({ description: 'expired and not revoked, a million at most' }),
        revoked: Type.Integer(),
        hold: Type.Integer(),
        expiring_in_7_days: Type.Integer({ description: 'good, and expiring within 168 hours' }),
        expiring_in_30_days: Type.Integer({ description: 'good, and expiring within 720 hours' }),
      },
      { $id: 'Expiry', ...closed },
    ),
    example: {
      days: [{ begins: '2026-03-02T00:00:00.000', count: 3, is_capped: false }],
      total: 5120,
      active: 4904,
      expired: 198,
      revoked: 17,
      hold: 1,
      expiring_in_7_days: 12,
      expiring_in_30_days: 40,
    },
    async read(principal, timeZone) {
      const { days, expiringIn7Days, expiringIn30Days, ...counts } = await overview.expiry(
        principal,
        timeZone,
      );
      return {
        days: days.map(({ begins, count, isCapped }) => ({
          begins: timestamp(begins),
          count,
          is_capped: isCapped,
        })),
        ...counts,
        expiring_in_7_days: expiringIn7Days,
        expiring_in_30_days: expiringIn30Days,
      };
    },
  }),
  figure({
    name: 'failures',
    id: 'readFailures',
    summary: 'Count the rejected and failed operations of the last 24 hours',
    permission: 'audit.read',
    schema: Type.Object(
      {
        since: dateTime('start of the counted period'),
        total: Type.Integer({ description: 'events that were rejected or failed, of every kind' }),
        events: Type.Array(
          Type.Object({ action: Type.String(), outcome: Type.String(), count: Type.Integer() }, closed),
        ),
        is_capped: capped,
      },
      { $id: 'Failures', ...closed },
    ),
    example: {
      since: '2026-03-01T08:15:30.000',
      total: 4,
      events: [{ action: 'certificate.issue', outcome: 'refused', count: 4 }],
      is_capped: false,
    },
    async read(principal) {
      const { since, total, events, isCapped } = await overview.failures(principal);
      return { since: timestamp(since), total, events, is_capped: isCapped };
    },
  }),
  figure({
    name: 'devices',
    id: 'readDeviceCounts',
    summary: 'Count the devices',
    permission: 'devices.read',
    schema: Type.Object(
      { total: Type.Integer(), by_domain: shares('domain') },
      { $id: 'DeviceCounts', ...closed },
    ),
    example: { total: 100_000, by_domain: [{ domain: 1, count: 100_000 }] },
    async read(principal) {
      const { total, byDomain } = await overview.devices(principal);
      return { total, by_domain: shareJson('domain', byDomain) };
    },
  }),
];

function figure({
  name,
  id,
  summary,
  permission,
  byDay = false,
  schema,
  example,
  read,
}: {
  readonly name: string;
  readonly id: string;
  readonly summary: string;
  readonly permission: Permission;
  /** The figures count calendar days, which depend on the time zone. */
  readonly byDay?: boolean;
  readonly schema: TSchema;
  readonly example: unknown;
  readonly read: (
    principal: Parameters<Route['handle']>[0],
    timeZone: string | undefined,
  ) => Promise<unknown>;
}): Route {
  return {
    method: 'GET',
    path: `/api/overview/${name}`,
    operation: {
      id,
      tag: 'overview',
      summary,
      permission,
      ...(byDay && { query: { time_zone: timeZone }, failures: { 400: 'The time zone is unknown.' } }),
      responses: { 200: jsonResponse('The figures.', schema, example) },
    },
    handle: async (principal, { query }) =>
      json(200, await read(principal, new URLSearchParams(query).get('time_zone') || undefined)),
  };
}
