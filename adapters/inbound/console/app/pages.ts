import { approval } from './pages/approval.tsx';
import { approvalPolicies } from './pages/approval-policies.tsx';
import { approvals } from './pages/approvals.tsx';
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
import { newCa } from './pages/new-ca.tsx';
import { newDevice } from './pages/new-device.tsx';
import { overview } from './pages/overview.tsx';
import { registration } from './pages/registration.tsx';
import { registrations } from './pages/registrations.tsx';
import { newRole, role } from './pages/role.tsx';
import { roles } from './pages/roles.tsx';
import { serviceAccounts } from './pages/service-accounts.tsx';
import { signer } from './pages/signer.tsx';
import { signers } from './pages/signers.tsx';
import { truststore } from './pages/truststore.tsx';
import { truststores } from './pages/truststores.tsx';
import { users } from './pages/users.tsx';
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
];
