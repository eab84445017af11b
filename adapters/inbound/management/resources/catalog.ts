import type { Gateway } from '#core/gateway.ts';
import { collectionRoutes } from '../collection.ts';
import type { Route } from '../route.ts';
import { approvalPolicies } from './approval-policies.ts';
import { approvalRoutes } from './approval-routes.ts';
import { approvals } from './approvals.ts';
import { auditEvents } from './audit-events.ts';
import { auditVerification } from './audit-verification.ts';
import { backups, runBackup } from './backups.ts';
import { certProfileRoutes } from './cert-profile-routes.ts';
import { certProfiles } from './cert-profiles.ts';
import { certificateRoutes } from './certificate-routes.ts';
import { certificateViews } from './certificate-views.ts';
import { certificates } from './certificates.ts';
import { configuredIssuers } from './configured-issuers.ts';
import { noOnboardingConfigs, onboardingConfigs } from './device-configs.ts';
import { deviceImportRoutes, deviceImports } from './device-imports.ts';
import { deviceRoutes } from './device-routes.ts';
import { devices, resetOnboarding } from './devices.ts';
import { devidRegistrations } from './devid-registrations.ts';
import { domains } from './domains.ts';
import { enrolmentUrls } from './enrolment-urls.ts';
import { issuingCaRoutes } from './issuing-ca-routes.ts';
import { issuingCas } from './issuing-cas.ts';
import { keyStores } from './key-stores.ts';
import { loggingRoutes } from './logging.ts';
import { overviewRoutes } from './overview.ts';
import { roles } from './roles.ts';
import { securityLevelsRoute } from './security-levels.ts';
import { rotateServiceAccount, serviceAccounts } from './service-accounts.ts';
import { settingsRoutes } from './settings.ts';
import { signedMessages } from './signed-messages.ts';
import { signerRoutes, signers } from './signers.ts';
import { activateCredential, credentials } from './tls.ts';
import { transactions } from './transactions.ts';
import { truststoreFile, truststores } from './truststores.ts';
import { upstreamRequests } from './upstream-requests.ts';
import { users } from './users.ts';
import { redeliver, webhookDeliveries } from './webhook-deliveries.ts';
import { webhookRoutes, webhooks } from './webhooks.ts';

/** Returns the routes of all resources of the Management API. `baseUrl`: the URL by which clients reach it. */
export const resourceRoutes = (gateway: Gateway, baseUrl: string): readonly Route[] => [
  ...collectionRoutes(gateway, approvalPolicies),
  ...collectionRoutes(gateway, approvals),
  ...approvalRoutes(gateway),
  ...collectionRoutes(gateway, auditEvents),
  auditVerification(gateway),
  ...collectionRoutes(gateway, backups),
  runBackup(gateway),
  ...collectionRoutes(gateway, certProfiles),
  ...certProfileRoutes(gateway),
  ...collectionRoutes(gateway, certificates),
  ...certificateRoutes(gateway),
  ...certificateViews(gateway),
  ...collectionRoutes(gateway, devices),
  resetOnboarding(gateway),
  ...deviceRoutes(gateway),
  ...collectionRoutes(gateway, deviceImports),
  ...deviceImportRoutes(gateway),
  ...collectionRoutes(gateway, devidRegistrations),
  ...collectionRoutes(gateway, domains),
  enrolmentUrls(gateway),
  ...collectionRoutes(gateway, issuingCas),
  ...issuingCaRoutes(gateway),
  keyStores(gateway),
  configuredIssuers(gateway),
  ...loggingRoutes(gateway),
  ...collectionRoutes(gateway, noOnboardingConfigs),
  ...collectionRoutes(gateway, onboardingConfigs),
  ...overviewRoutes(gateway),
  ...collectionRoutes(gateway, roles),
  ...collectionRoutes(gateway, serviceAccounts),
  rotateServiceAccount(gateway),
  securityLevelsRoute(gateway),
  ...settingsRoutes(gateway),
  ...collectionRoutes(gateway, signedMessages),
  ...collectionRoutes(gateway, signers),
  ...signerRoutes(gateway),
  ...collectionRoutes(gateway, credentials),
  activateCredential(gateway),
  ...collectionRoutes(gateway, transactions),
  ...collectionRoutes(gateway, truststores(baseUrl)),
  truststoreFile(gateway),
  ...collectionRoutes(gateway, upstreamRequests),
  ...collectionRoutes(gateway, users),
  ...collectionRoutes(gateway, webhookDeliveries),
  redeliver(gateway),
  ...collectionRoutes(gateway, webhooks),
  ...webhookRoutes(gateway),
];
