import { messages } from '../../language.ts';

const english = {
  'approval.waiting': 'Approval pending',
  'approval.granted': 'Request approved',
  'approval.rejected': 'Request rejected',
  'approval.expired': 'Request expired',
  'certificate.issued': 'Certificate issued',
  'certificate.revoked': 'Certificate revoked',
  'certificate.released': 'Certificate released from hold',
  'certificate.expiring': 'Certificate expires soon',
  'ca.expiring': 'Issuing CA expires soon',
  'upstream.failed': 'Upstream request failed',
} as const;

export type WebhookEvent = keyof typeof english;

/** What other systems can be told of. */
export const webhookEvents = Object.keys(english) as readonly WebhookEvent[];

export const eventTitle = messages(english, {
  'approval.waiting': 'Genehmigung offen',
  'approval.granted': 'Antrag genehmigt',
  'approval.rejected': 'Antrag abgelehnt',
  'approval.expired': 'Antrag abgelaufen',
  'certificate.issued': 'Zertifikat ausgestellt',
  'certificate.revoked': 'Zertifikat gesperrt',
  'certificate.released': 'Aussetzung eines Zertifikats aufgehoben',
  'certificate.expiring': 'Zertifikat läuft bald ab',
  'ca.expiring': 'Ausstellende CA läuft bald ab',
  'upstream.failed': 'Anfrage an eine Upstream-CA fehlgeschlagen',
});
