import { Type } from '@sinclair/typebox';
import type { Gateway } from '#core/gateway.ts';
import type { RevocationReason } from '#core/x509/extensions/revocation.ts';
import { readBody } from '../body.ts';
import { linkToNext, recordId } from '../collection.ts';
import { collectionOperations, inputSchema, recordSchema, shownExample } from '../collection-operations.ts';
import type { FieldDescription } from '../description.ts';
import { json } from '../errors.ts';
import { text } from '../fields.ts';
import { readInput } from '../input.ts';
import { pageParameters, readListQuery } from '../list-query.ts';
import { jsonResponse, type Route } from '../route.ts';
import { shownRecords } from '../shown.ts';
import { auditEvents } from './audit-events.ts';
import { commonReasons, reasonField } from './certificate-routes.ts';
import { certificates } from './certificates.ts';
import { devices } from './devices.ts';

const { path, tag } = devices;

/** Operations on a device other than CRUD: block, unblock, certificates, history, enrolment commands. */
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
  comment: { schema: text(200, { description: 'reason, for the audit trail' }) },
  revoke: {
    ...reasonField('reason to revoke its certificates for; if omitted, they are not revoked', commonReasons),
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
      'Postern no longer accepts the secrets, certificates and IDevID of the device over any protocol. `revoke` also revokes its certificates (needs certificates.revoke too).',
    permission: 'devices.write',
    body: {
      schema: inputSchema(blockFields, 'create', 'DeviceBlockInput'),
      example: { comment: 'stolen from line 3', revoke: 'keyCompromise' },
      optional: true,
    },
    responses: { 200: deviceResponse },
    failures: { 409: 'The device is already blocked.' },
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
    summary: 'Unblock a device',
    permission: 'devices.write',
    responses: { 200: deviceResponse },
    failures: { 409: 'The device is not blocked.' },
  },
  handle: async (principal, _request, { id }) =>
    json(200, devices.toJson(await gateway.devices.unblock(principal, recordId(id)), true)),
});

const revokeFields = {
  reason: reasonField('default: unspecified. certificateHold suspends the certificates', commonReasons),
} as const satisfies Record<string, FieldDescription>;

const revokeCertificates = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${path}/:id/revoke-certificates`,
  operation: {
    id: 'revokeCertificatesOfDevice',
    tag,
    summary: 'Revoke all certificates of a device',
    description: 'Revokes all certificates that are valid or on hold. New CRLs are issued immediately.',
    permission: 'certificates.revoke',
    body: {
      schema: inputSchema(revokeFields, 'create', 'DeviceRevocationInput'),
      example: { reason: 'cessationOfOperation' },
      optional: true,
    },
    responses: {
      200: jsonResponse(
        'The number of revoked certificates.',
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

// This list is not exported as a file.
const { exported: _, ...inPages } = certificates;

const certificatesOf = (gateway: Gateway): Route => ({
  method: 'GET',
  path: `${path}/:id/certificates`,
  operation: {
    ...collectionOperations(inPages).list,
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
      shownRecords(gateway, certificates, page.records),
      linkToNext(`${path}/${device}/certificates`, parameters, page.next),
    );
  },
});

const eventsOf = (gateway: Gateway): Route => ({
  method: 'GET',
  path: `${path}/:id/events`,
  operation: {
    id: 'listEventsOfDevice',
    tag,
    summary: 'List the history of a device',
    description: 'The audit events of the device and its certificates, newest first.',
    permission: 'history.read',
    query: pageParameters,
    responses: {
      200: {
        ...jsonResponse(
          'A page of events.',
          Type.Array(recordSchema(auditEvents.fields, true, 'AuditEvent')),
          [shownExample(auditEvents)],
        ),
        headers: { Link: '`<…>; rel="next"` is the next page, if there is one.' },
      },
    },
    failures: { 400: 'A query parameter is invalid.' },
  },
  async handle(principal, request, { id }) {
    const device = recordId(id);
    const parameters = new URLSearchParams(request.query);
    const { limit, cursor } = readListQuery({ fields: {} }, parameters, gateway.now());
    const page = await gateway.devices.timeline(principal, device, { limit, ...(cursor && { cursor }) });
    return json(
      200,
      shownRecords(gateway, auditEvents, page.records),
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
    summary: 'Show the commands to enrol a device',
    description:
      'Shell commands with OpenSSL and curl, to be run in order: the first certificate and its renewal over each protocol that the device may use. If your role may not read secrets, the commands contain SECRET instead.',
    permission: 'devices.read',
    responses: {
      200: jsonResponse(
        'The commands by name, and their titles.',
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
          titles: { key: 'Generate a key and a certification request' },
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
