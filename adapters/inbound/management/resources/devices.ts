import { type Device, deviceTypes } from '#core/devices/device.ts';
import type { DeviceInput } from '#core/devices/devices.ts';
import { type Description, timestamp } from '../description.ts';
import { integerEnum, nullable, reference, text } from '../fields.ts';
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
