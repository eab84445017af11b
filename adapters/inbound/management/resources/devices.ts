import { type Device, deviceTypes } from '#core/devices/device.ts';
import type { DeviceInput } from '#core/devices/devices.ts';
import type { Gateway } from '#core/gateway.ts';
import { recordId } from '../collection.ts';
import { recordSchema, shownExample } from '../collection-operations.ts';
import { type Description, timestamp } from '../description.ts';
import { json } from '../errors.ts';
import { integerEnum, nullable, reference, text } from '../fields.ts';
import { jsonResponse, type Route } from '../route.ts';
import { createdAtField, idField } from './common.ts';

export const devices: Description<'device', DeviceInput, Device> = {
  path: '/api/devices',
  tag: 'devices',
  noun: 'device',
  kind: 'device',
  permissions: { read: 'devices.read', write: 'devices.write' },
  fields: {
    id: idField,
    common_name: { schema: text(100, { least: 1 }), required: true, orderable: true },
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
    onboarding_config: { schema: nullable(reference('how it is onboarded')), whenMissing: null },
    no_onboarding_config: {
      schema: nullable(reference('its secrets; made when neither configuration is given')),
      whenMissing: null,
    },
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
  },
  operations: (gateway) => gateway.devices,
};

/** `POST /api/devices/{id}/reset-onboarding/`. */
export const resetOnboarding = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${devices.path}/:id/reset-onboarding`,
  operation: {
    id: 'resetOnboarding',
    tag: 'devices',
    summary: 'Let a device onboard once more',
    description:
      'Its onboarding is pending again, with whatever IDevID of its truststore bears its serial number. The certificates that it has stay as they are.',
    permission: 'devices.write',
    responses: {
      200: jsonResponse('The device.', recordSchema(devices.fields, true, 'Device'), shownExample(devices)),
    },
    failures: { 409: 'It has no onboarding configuration.' },
  },
  handle: async (principal, _request, { id }) =>
    json(200, devices.toJson(await gateway.devices.resetOnboarding(principal, recordId(id)), true)),
});
