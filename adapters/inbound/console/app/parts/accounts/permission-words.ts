import { meanings } from '../../language.ts';

/** What a permission is about: the part before the point. */
export const permissionArea = meanings(
  {
    accounts: 'Users, roles and service accounts',
    approvals: 'Approvals',
    audit: 'Audit log',
    backups: 'Backups',
    cas: 'Certificate authorities',
    certificates: 'Certificates',
    credentials: 'TLS credentials',
    crls: 'Revocation lists',
    devices: 'Devices',
    domains: 'Domains',
    history: 'Device history',
    logs: 'Logs',
    metrics: 'Metrics',
    policies: 'Approval policies',
    profiles: 'Certificate profiles',
    registrations: 'Registrations',
    settings: 'Settings',
    signers: 'Signers',
    truststores: 'Truststores',
    webhooks: 'Webhooks',
  },
  {
    accounts: 'Benutzer, Rollen und Dienstkonten',
    approvals: 'Genehmigungen',
    audit: 'Prüfprotokoll',
    backups: 'Sicherungen',
    cas: 'Zertifizierungsstellen',
    certificates: 'Zertifikate',
    credentials: 'TLS-Zertifikate des Dienstes',
    crls: 'Sperrlisten',
    devices: 'Geräte',
    domains: 'Domänen',
    history: 'Geräteverlauf',
    logs: 'Protokolle',
    metrics: 'Messwerte',
    policies: 'Genehmigungsrichtlinien',
    profiles: 'Zertifikatsprofile',
    registrations: 'Registrierungen',
    settings: 'Einstellungen',
    signers: 'Signierer',
    truststores: 'Truststores',
    webhooks: 'Webhooks',
  },
);

/** What it allows: the part behind the point. */
const permissionDeed = meanings(
  {
    decide: 'decide',
    generate: 'make',
    issue: 'issue',
    read: 'see',
    revoke: 'revoke',
    secrets: 'see secrets',
    sign: 'sign with them',
    write: 'change',
  },
  {
    decide: 'entscheiden',
    generate: 'erstellen',
    issue: 'ausstellen',
    read: 'sehen',
    revoke: 'sperren',
    secrets: 'Geheimnisse sehen',
    sign: 'damit signieren',
    write: 'ändern',
  },
);

/** `devices.read`, `devices.write`, … → `devices` with both; in the order of first mention. */
export function byArea(permissions: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const areas = new Map<string, string[]>();
  for (const permission of permissions) {
    const area = permission.slice(0, permission.indexOf('.'));
    areas.set(area, [...(areas.get(area) ?? []), permission]);
  }
  return areas;
}

export const deedOf = (permission: string): string => {
  const deed = permission.slice(permission.indexOf('.') + 1);
  return permissionDeed(deed) ?? deed;
};
