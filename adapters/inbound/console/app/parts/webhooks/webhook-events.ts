import { messages } from '../../language.ts';

const english = {
  'approval.waiting': 'a request that waits for approval',
  'approval.granted': 'a request that was approved',
  'approval.rejected': 'a request that was rejected',
  'approval.expired': 'a request nobody decided on',
  'certificate.issued': 'a certificate that was issued',
  'certificate.revoked': 'a certificate that was revoked',
  'certificate.released': 'a certificate whose hold was lifted',
  'certificate.expiring': 'a certificate that ends soon',
  'ca.expiring': 'an issuing CA that expires soon',
  'upstream.failed': 'a CA elsewhere that failed',
} as const;

export type WebhookEvent = keyof typeof english;

/** What other systems can be told of. */
export const webhookEvents = Object.keys(english) as readonly WebhookEvent[];

export const eventTitle = messages(english, {
  'approval.waiting': 'ein Antrag, der auf Genehmigung wartet',
  'approval.granted': 'ein genehmigter Antrag',
  'approval.rejected': 'ein abgelehnter Antrag',
  'approval.expired': 'ein Antrag, über den niemand entschied',
  'certificate.issued': 'ein ausgestelltes Zertifikat',
  'certificate.revoked': 'ein gesperrtes Zertifikat',
  'certificate.released': 'ein nicht mehr ausgesetztes Zertifikat',
  'certificate.expiring': 'ein bald ablaufendes Zertifikat',
  'ca.expiring': 'eine bald ablaufende ausstellende CA',
  'upstream.failed': 'eine vorgelagerte Stelle, die scheiterte',
});
