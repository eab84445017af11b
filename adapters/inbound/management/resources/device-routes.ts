import { Type } from '@sinclair/typebox';
import type { Gateway } from '#core/gateway.ts';
import type { RevocationReason } from '#core/x509/extensions/revocation.ts';
import { readBody } from '../body.ts';
import { linkToNext, recordId } from '../collection.ts';
import {
  collectionOperations,
  inputSchema,
  listQuery,
  recordSchema,
  shownExample,
} from '../collection-operations.ts';
import type { FieldDescription } from '../description.ts';
import { json } from '../errors.ts';
import { text } from '../fields.ts';
import { readInput } from '../input.ts';
import { readListQuery } from '../list-query.ts';
import { jsonResponse, type Route } from '../route.ts';
import { auditEvents } from './audit-events.ts';
import { commonReasons, reasonField } from './certificate-routes.ts';
import { certificates } from './certificates.ts';
import { devices } from './devices.ts';

const { path, tag } = devices;

/** The life of a device beyond its record: blocked and let in again, its certificates, what happened to it. */
export const deviceRoutes = (gateway: Gateway): readonly Route[] => [
  block(gateway),
  unblock(gateway),
  revokeCertificates(gateway),
  certificatesOf(gateway),
  eventsOf(gateway),
  commandsOf(gateway),
];

const deviceResponse = jsonResponse(
  'The device.',
  recordSchema(devices.fields, true, 'Device'),
  shownExample(devices),
);

const blockFields = {
  comment: { schema: text(200, { description: 'why; for the audit trail' }) },
  revoke: {
    ...reasonField('its certificates are revoked for it; left out: they stay as they are', commonReasons),
  },
} as const satisfies Record<string, FieldDescription>;

const block = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${path}/:id/block`,
  operation: {
    id: 'blockDevice',
    tag,
    summary: 'Block a device',
    description:
      'From now on nothing that stands for it is accepted over any protocol: its secrets, its certificates, its IDevID. With `revoke` (which needs certificates.revoke too) its certificates are revoked as well.',
    permission: 'devices.write',
    body: {
      schema: inputSchema(blockFields, 'create', 'DeviceBlockInput'),
      example: { comment: 'stolen from line 3', revoke: 'keyCompromise' },
      optional: true,
    },
    responses: { 200: deviceResponse },
    failures: { 409: 'It is blocked already.' },
  },
  async handle(principal, request, { id }) {
    const { comment = '', revoke } = readInput(blockFields, await readBody(request), 'create') as {
      comment?: string;
      revoke?: RevocationReason;
    };
    const blocking = { comment, ...(revoke !== undefined && { revoke }) };
    return json(200, devices.toJson(await gateway.devices.block(principal, recordId(id), blocking), true));
  },
});

const unblock = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${path}/:id/unblock`,
  operation: {
    id: 'unblockDevice',
    tag,
    summary: 'Let a blocked device in again',
    permission: 'devices.write',
    responses: { 200: deviceResponse },
    failures: { 409: 'It is not blocked.' },
  },
  handle: async (principal, _request, { id }) =>
    json(200, devices.toJson(await gateway.devices.unblock(principal, recordId(id)), true)),
});

const revokeFields = {
  reason: reasonField('default: unspecified. certificateHold suspends them', commonReasons),
} as const satisfies Record<string, FieldDescription>;

const revokeCertificates = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${path}/:id/revoke-certificates`,
  operation: {
    id: 'revokeCertificatesOfDevice',
    tag,
    summary: 'Revoke all certificates of a device',
    description: 'Those that are good or on hold. New CRLs follow at once.',
    permission: 'certificates.revoke',
    body: {
      schema: inputSchema(revokeFields, 'create', 'DeviceRevocationInput'),
      example: { reason: 'cessationOfOperation' },
      optional: true,
    },
    responses: {
      200: jsonResponse(
        'How many there were.',
        Type.Object({ revoked: Type.Integer() }, { $id: 'DeviceRevocation', additionalProperties: false }),
        { revoked: 2 },
      ),
    },
  },
  async handle(principal, request, { id }) {
    const input = readInput(revokeFields, await readBody(request), 'create');
    const { reason = 'unspecified' } = input as { reason?: RevocationReason };
    return json(200, { revoked: await gateway.devices.revokeCertificates(principal, recordId(id), reason) });
  },
});

const certificatesOf = (gateway: Gateway): Route => ({
  method: 'GET',
  path: `${path}/:id/certificates`,
  operation: {
    ...collectionOperations(certificates).list,
    id: 'listCertificatesOfDevice',
    tag,
    summary: 'List the certificates of a device',
    permission: 'certificates.read',
  },
  async handle(principal, request, { id }) {
    const device = recordId(id);
    const parameters = new URLSearchParams(request.query);
    const query = readListQuery(certificates, parameters, gateway.now());
    await gateway.devices.read(principal, device);
    const page = await gateway.certificates.list(principal, {
      ...query,
      where: [...(query.where ?? []), { field: 'device', is: 'equal', value: device }],
    });
    return json(
      200,
      page.records.map((record) => certificates.toJson(record, false)),
      linkToNext(`${path}/${device}/certificates`, parameters, page.next),
    );
  },
});

const paging = listQuery({});

const eventsOf = (gateway: Gateway): Route => ({
  method: 'GET',
  path: `${path}/:id/events`,
  operation: {
    id: 'listEventsOfDevice',
    tag,
    summary: 'What happened to a device',
    description: 'And to its certificates, and what it did itself: from the audit trail, newest first.',
    permission: 'history.read',
    query: { limit: paging.limit, cursor: paging.cursor },
    responses: {
      200: {
        ...jsonResponse('A page of it.', Type.Array(recordSchema(auditEvents.fields, true, 'AuditEvent')), [
          shownExample(auditEvents),
        ]),
        headers: { Link: '`<…>; rel="next"` names the next page, where there is one.' },
      },
    },
    failures: { 400: 'A query parameter is not what it should be.' },
  },
  async handle(principal, request, { id }) {
    const device = recordId(id);
    const parameters = new URLSearchParams(request.query);
    const { limit, cursor } = readListQuery({ fields: {} }, parameters, gateway.now());
    const page = await gateway.devices.timeline(principal, device, { limit, ...(cursor && { cursor }) });
    return json(
      200,
      page.records.map((event) => auditEvents.toJson(event, true)),
      linkToNext(`${path}/${device}/events`, parameters, page.next),
    );
  },
});

const commandsOf = (gateway: Gateway): Route => ({
  method: 'GET',
  path: `${path}/:id/commands`,
  operation: {
    id: 'readCommandsOfDevice',
    tag,
    summary: 'How a device enrols',
    description:
      'Lines for a shell with OpenSSL and curl, to be run one after the other: its first certificate and its renewal over each protocol that it may use. Secrets are in them for those who may read secrets; for others SECRET stands there.',
    permission: 'devices.read',
    responses: {
      200: jsonResponse(
        'The lines, by name, and what each is for.',
        Type.Object(
          {
            commands: Type.Record(Type.String(), Type.String()),
            titles: Type.Record(Type.String(), Type.String()),
          },
          { $id: 'DeviceCommands', additionalProperties: false },
        ),
        {
          commands: {
            key: 'openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout pump-7.key -out pump-7.csr -subj /CN=pump-7',
          },
          titles: { key: 'A key, and a request for a certificate' },
        },
      ),
    },
  },
  handle: async (principal, _request, { id }) =>
    json(
      200,
      { ...(await gateway.devices.commands(principal, recordId(id))) },
      { 'cache-control': 'no-store' },
    ),
});
