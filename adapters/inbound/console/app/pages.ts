import { approval } from './pages/approval.tsx';
import { approvalPolicies } from './pages/approval-policies.tsx';
import { approvals } from './pages/approvals.tsx';
import { audit } from './pages/audit.tsx';
import { backups } from './pages/backups.tsx';
import { ca } from './pages/ca.tsx';
import { cas } from './pages/cas.tsx';
import { certificate } from './pages/certificate.tsx';
import { certificates } from './pages/certificates.tsx';
import { device } from './pages/device.tsx';
import { deviceImport } from './pages/device-import.tsx';
import { deviceImports } from './pages/device-imports.tsx';
import { devices } from './pages/devices.tsx';
import { domain } from './pages/domain.tsx';
import { domains } from './pages/domains.tsx';
import { log } from './pages/log.tsx';
import { logs } from './pages/logs.tsx';
import { newCa } from './pages/new-ca.tsx';
import { newDevice } from './pages/new-device.tsx';
import { newTls } from './pages/new-tls.tsx';
import { overview } from './pages/overview.tsx';
import { profile } from './pages/profile.tsx';
import { editProfile, newProfile } from './pages/profile-editor.tsx';
import { profiles } from './pages/profiles.tsx';
import { registration } from './pages/registration.tsx';
import { registrations } from './pages/registrations.tsx';
import { newRole, role } from './pages/role.tsx';
import { roles } from './pages/roles.tsx';
import { serviceAccounts } from './pages/service-accounts.tsx';
import { settings } from './pages/settings.tsx';
import { signer } from './pages/signer.tsx';
import { signers } from './pages/signers.tsx';
import { tls } from './pages/tls.tsx';
import { tlsOne } from './pages/tls-one.tsx';
import { transactions } from './pages/transactions.tsx';
import { truststore } from './pages/truststore.tsx';
import { truststores } from './pages/truststores.tsx';
import { upstreams } from './pages/upstreams.tsx';
import { users } from './pages/users.tsx';
import { webhookMessages } from './pages/webhook-messages.tsx';
import { webhooks } from './pages/webhooks.tsx';
import type { Page } from './router.ts';

/** Every page. Of two that fit a path, the first is shown: `/devices/new` before `/devices/:id`. */
export const pages: readonly Page[] = [
  overview,
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
