import type { RegistrationInput } from '#core/administration/devid-registrations.ts';
import type { DevidRegistration } from '#core/records/domain.ts';
import { type Description, timestamp } from '../description.ts';
import { reference, text } from '../fields.ts';
import { equalInteger, equalText } from '../filters.ts';
import { createdAtField, idField } from './common-fields.ts';

const truststore = reference('truststore of usage IDevID that the IDevIDs must chain to');
const domain = reference('the domain in which the devices are created on first contact');

export const devidRegistrations: Description<'devidRegistration', RegistrationInput, DevidRegistration> = {
  path: '/api/devid-registrations',
  tag: 'devices',
  kind: 'devidRegistration',
  permissions: { read: 'registrations.read', write: 'registrations.write' },
  fields: {
    id: idField,
    unique_name: { schema: text(255, { min: 1 }), required: true, orderable: true },
    created_at: createdAtField,
    truststore: { schema: truststore, required: true, orderable: true },
    domain: { schema: domain, required: true, orderable: true },
    serial_number_pattern: {
      schema: text(1000, {
        min: 1,
        description:
          'a regular expression (RE2) that must match the whole serial number in the IDevID: serialNumber of the subject, or hwSerialNum of hardwareModuleName',
      }),
      required: true,
    },
  },
  filters: {
    unique_name: equalText('uniqueName'),
    truststore: equalInteger('truststore', truststore),
    domain: equalInteger('domain', domain),
  },
  toJson: (registration) => ({
    id: registration.id,
    unique_name: registration.uniqueName,
    created_at: timestamp(registration.createdAt),
    truststore: registration.truststore,
    domain: registration.domain,
    serial_number_pattern: registration.serialNumberPattern,
  }),
  example: {
    id: 4,
    unique_name: 'Pumps of line 7',
    created_at: '2026-03-02T08:15:30.000',
    truststore: 3,
    domain: 2,
    serial_number_pattern: 'PMP-[0-9]{6}',
  },
  operations: (gateway) => gateway.devidRegistrations,
};
