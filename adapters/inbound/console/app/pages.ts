import { password } from './pages/accounts/password.tsx';
import { newRole, role } from './pages/accounts/role.tsx';
import { roles } from './pages/accounts/roles.tsx';
import { serviceAccounts } from './pages/accounts/service-accounts.tsx';
import { users } from './pages/accounts/users.tsx';
import { approval } from './pages/approvals/approval.tsx';
import { approvalPolicies } from './pages/approvals/approval-policies.tsx';
import { approvals } from './pages/approvals/approvals.tsx';
import { audit } from './pages/audit/audit.tsx';
import { backups } from './pages/backups/backups.tsx';
import { ca } from './pages/cas/ca.tsx';
import { cas } from './pages/cas/cas.tsx';
import { newCa } from './pages/cas/new-ca.tsx';
import { certificate } from './pages/certificates/certificate.tsx';
import { certificates } from './pages/certificates/certificates.tsx';
import { device } from './pages/devices/device.tsx';
import { deviceImport } from './pages/devices/device-import.tsx';
import { deviceImports } from './pages/devices/device-imports.tsx';
import { devices } from './pages/devices/devices.tsx';
import { newDevice } from './pages/devices/new-device.tsx';
import { domain } from './pages/domains/domain.tsx';
import { domains } from './pages/domains/domains.tsx';
import { log } from './pages/logs/log.tsx';
import { logs } from './pages/logs/logs.tsx';
import { overview } from './pages/overview/overview.tsx';
import { profile } from './pages/profiles/profile.tsx';
import { editProfile, newProfile } from './pages/profiles/profile-editor.tsx';
import { profiles } from './pages/profiles/profiles.tsx';
import { registration } from './pages/registrations/registration.tsx';
import { registrations } from './pages/registrations/registrations.tsx';
import { settings } from './pages/settings/settings.tsx';
import { signer } from './pages/signers/signer.tsx';
import { signers } from './pages/signers/signers.tsx';
import { newTls } from './pages/tls/new-tls.tsx';
import { tls } from './pages/tls/tls.tsx';
import { tlsOne } from './pages/tls/tls-one.tsx';
import { transactions } from './pages/transactions/transactions.tsx';
import { truststore } from './pages/truststores/truststore.tsx';
import { truststores } from './pages/truststores/truststores.tsx';
import { upstreams } from './pages/upstreams/upstreams.tsx';
import { webhookMessages } from './pages/webhooks/webhook-messages.tsx';
import { webhooks } from './pages/webhooks/webhooks.tsx';
import type { Page } from './router.ts';

/** Every page. Of two that fit a path, the first is shown: `/devices/new` before `/devices/:id`. */
export const pages: readonly Page[] = [
  overview,
  password,
  approvals,
  approvalPolicies,
  approval,
  devices,
  newDevice,
  deviceImports,
  deviceImport,
  device,
  certificates,
  certificate,
  cas,
  newCa,
  ca,
  domains,
  domain,
  profiles,
  newProfile,
  profile,
  editProfile,
  truststores,
  truststore,
  registrations,
  registration,
  signers,
  signer,
  users,
  roles,
  newRole,
  role,
  serviceAccounts,
  audit,
  tls,
  newTls,
  tlsOne,
  logs,
  log,
  backups,
  settings,
  webhooks,
  webhookMessages,
  transactions,
  upstreams,
];
