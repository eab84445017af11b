import { ca } from './pages/ca.tsx';
import { cas } from './pages/cas.tsx';
import { certificate } from './pages/certificate.tsx';
import { certificates } from './pages/certificates.tsx';
import { device } from './pages/device.tsx';
import { devices } from './pages/devices.tsx';
import { domain } from './pages/domain.tsx';
import { domains } from './pages/domains.tsx';
import { newCa } from './pages/new-ca.tsx';
import { newDevice } from './pages/new-device.tsx';
import { overview } from './pages/overview.tsx';
import { registration } from './pages/registration.tsx';
import { registrations } from './pages/registrations.tsx';
import { signer } from './pages/signer.tsx';
import { signers } from './pages/signers.tsx';
import { truststore } from './pages/truststore.tsx';
import { truststores } from './pages/truststores.tsx';
import type { Page } from './router.ts';

/** Every page. Of two that fit a path, the first is shown: `/devices/new` before `/devices/:id`. */
export const pages: readonly Page[] = [
  overview,
  devices,
  newDevice,
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
];
