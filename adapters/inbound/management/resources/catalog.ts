import type { Gateway } from '#core/gateway.ts';
import { collectionRoutes } from '../collection.ts';
import type { Route } from '../route.ts';
import { auditEvents } from './audit-events.ts';
import { backups, runBackup } from './backups.ts';
import { certProfiles } from './cert-profiles.ts';
import { certificates } from './certificates.ts';
import { noOnboardingConfigs, onboardingConfigs } from './device-configs.ts';
import { devices } from './devices.ts';
import { domains } from './domains.ts';
import { issuingCas } from './issuing-cas.ts';
import { roles } from './roles.ts';
import { rotateServiceAccount, serviceAccounts } from './service-accounts.ts';
import { users } from './users.ts';

/** Every resource of the Management API. */
export const resourceRoutes = (gateway: Gateway): readonly Route[] => [
  ...collectionRoutes(gateway, auditEvents),
  ...collectionRoutes(gateway, backups),
  runBackup(gateway),
  ...collectionRoutes(gateway, certProfiles),
  ...collectionRoutes(gateway, certificates),
  ...collectionRoutes(gateway, devices),
  ...collectionRoutes(gateway, domains),
  ...collectionRoutes(gateway, issuingCas),
  ...collectionRoutes(gateway, noOnboardingConfigs),
  ...collectionRoutes(gateway, onboardingConfigs),
  ...collectionRoutes(gateway, roles),
  ...collectionRoutes(gateway, serviceAccounts),
  rotateServiceAccount(gateway),
  ...collectionRoutes(gateway, users),
];
