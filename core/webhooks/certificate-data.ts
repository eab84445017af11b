import type { Values } from '../ports/store.ts';
import type { WebhookData } from '../records/webhook.ts';

type Shown = Pick<
  Values<'certificate'>,
  | 'commonName'
  | 'ca'
  | 'serialNumber'
  | 'subject'
  | 'notValidBefore'
  | 'notValidAfter'
  | 'fingerprint'
  | 'device'
  | 'domain'
  | 'profile'
  | 'protocol'
>;

const idOf = (value: Shown['device']): number | null => (typeof value === 'number' ? value : null);

/** Returns the properties of a certificate in webhook messages, except `id`. */
export const certificateData = (certificate: Shown): WebhookData => ({
  common_name: certificate.commonName,
  subject: certificate.subject,
  serial_number: certificate.serialNumber,
  fingerprint: certificate.fingerprint,
  not_valid_before: new Date(certificate.notValidBefore as number).toISOString(),
  not_valid_after: new Date(certificate.notValidAfter as number).toISOString(),
  issuing_ca: idOf(certificate.ca),
  device: idOf(certificate.device),
  domain: idOf(certificate.domain),
  cert_profile: idOf(certificate.profile),
  protocol: certificate.protocol,
});
