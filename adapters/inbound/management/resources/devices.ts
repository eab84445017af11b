import { Type } from '@sinclair/typebox';
import type { DeviceInput } from '#core/devices/devices.ts';
import { type DeviceState, type DeviceView, deviceStates, stateCondition } from '#core/devices/state.ts';
import type { Gateway } from '#core/gateway.ts';
import { deviceTypes } from '#core/records/device.ts';
import { recordId } from '../collection.ts';
import { recordSchema, shownExample } from '../collection-operations.ts';
import { type Description, timestamp } from '../description.ts';
import { json } from '../errors.ts';
import { dateTime, integerEnum, nullable, reference, text } from '../fields.ts';
import { equalInteger } from '../filters.ts';
import { jsonResponse, type Route } from '../route.ts';
import { createdAtField, idField } from './common-fields.ts';

export const devices: Description<'device', DeviceInput, DeviceView> = {
  path: '/api/devices',
  tag: 'devices',
  kind: 'device',
  permissions: { read: 'devices.read', write: 'devices.write' },
  fields: {
    id: idField,
    common_name: { schema: text(100, { min: 1 }), required: true, orderable: true },
    serial_number: { schema: text(100), whenMissing: '', orderable: true },
    device_type: {
      schema: integerEnum({ 0: 'Generic', 1: 'OPC UA GDS', 2: 'OPC UA GDS Push', 3: 'Agent' }),
      whenMissing: deviceTypes.generic,
      orderable: true,
    },
    created_at: createdAtField,
    domain: {
      schema: nullable(reference('the domain; default: the default domain')),
      whenMissing: null,
      orderable: true,
    },
    onboarding_config: {
      schema: nullable(reference('the onboarding configuration')),
      whenMissing: null,
      orderable: true,
    },
    no_onboarding_config: {
      schema: nullable(
        reference('the configuration with its secrets; created if neither configuration is given'),
      ),
      whenMissing: null,
      orderable: true,
    },
    state: {
      schema: Type.String({
        enum: [...deviceStates],
        description:
          'registered: has no valid certificate; active: has a valid certificate; blocked: no credential of the device is accepted',
      }),
      readOnly: true,
    },
    blocked_at: { schema: nullable(dateTime('when it was blocked')), readOnly: true, orderable: true },
    next_expiry: {
      schema: nullable(dateTime('when the first of its valid certificates expires')),
      readOnly: true,
    },
    device_import: { schema: nullable(Type.Integer(), 'the import that created it'), readOnly: true },
  },
  filters: {
    state: {
      schema: Type.String({ enum: [...deviceStates] }),
      conditions: (text, now) => stateCondition(text as DeviceState, now).where,
      referral: (text, now) => stateCondition(text as DeviceState, now).referral,
    },
    domain: equalInteger('domain'),
    device_import: equalInteger('deviceImport'),
  },
  toJson: (device) => ({
    id: device.id,
    common_name: device.commonName,
    serial_number: device.serialNumber,
    device_type: device.deviceType,
    created_at: timestamp(device.createdAt),
    domain: device.domain,
    onboarding_config: device.onboardingConfig,
    no_onboarding_config: device.noOnboardingConfig,
    state: device.state,
    blocked_at: device.blockedAt === null ? null : timestamp(device.blockedAt),
    next_expiry: device.nextExpiry === null ? null : timestamp(device.nextExpiry),
    device_import: device.deviceImport,
  }),
  example: {
    id: 7,
    common_name: 'pump-7',
    serial_number: 'SN-0007',
    device_type: 0,
    created_at: '2026-03-02T08:15:30.000',
    domain: 1,
    onboarding_config: null,
    no_onboarding_config: 7,
    state: 'active',
    blocked_at: null,
    next_expiry: '2027-03-02T08:15:30.000',
    device_import: null,
  },
  conflicts: { remove: 'An approval policy still refers to it.' },
  operations: (gateway) => gateway.devices,
};

/** `POST /api/devices/{id}/reset-onboarding/`. */
export const resetOnboarding = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${devices.path}/:id/reset-onboarding`,
  operation: {
    id: 'resetOnboarding',
    tag: 'devices',
    summary: 'Reset the onboarding of a device',
    description:
      'The device can onboard again with any IDevID that chains to its truststore and has its serial number. Existing certificates are unchanged.',
    permission: 'devices.write',
    responses: {
      200: jsonResponse('The device.', recordSchema(devices.fields, true, 'Device'), shownExample(devices)),
    },
    failures: { 409: 'The device has no onboarding configuration.' },
  },
  handle: async (principal, _request, { id }) =>
    json(200, devices.toJson(await gateway.devices.resetOnboarding(principal, recordId(id)), true)),
});
