/** All permissions of the Management API. */
export const permissions = [
  'backups.read',
  'backups.write',
  'profiles.read',
  'profiles.write',
  'certificates.read',
  'certificates.issue',
  'certificates.revoke',
  'certificates.write',
  'devices.read',
  'devices.write',
  'devices.secrets',
  'history.read',
  'domains.read',
  'domains.write',
  'cas.read',
  'cas.write',
  'crls.read',
  'crls.generate',
  'credentials.read',
  'credentials.write',
  'signers.read',
  'signers.sign',
  'truststores.read',
  'truststores.write',
  'registrations.read',
  'registrations.write',
  'approvals.read',
  'approvals.decide',
  'policies.write',
  'webhooks.read',
  'webhooks.write',
  'accounts.read',
  'accounts.write',
  'audit.read',
  'logs.read',
  'logs.write',
  'settings.read',
  'settings.write',
  'metrics.read',
] as const;

export type Permission = (typeof permissions)[number];

const pkiReads: readonly Permission[] = [
  'profiles.read',
  'certificates.read',
  'devices.read',
  'domains.read',
  'cas.read',
  'crls.read',
  'credentials.read',
  'signers.read',
  'truststores.read',
  'registrations.read',
];

/** The built-in roles. Only `Admin` is protected: it always has every permission. */
export const shippedRoles: Readonly<
  Record<string, { permissions: readonly Permission[]; isProtected: boolean }>
> = {
  Admin: { permissions, isProtected: true },
  Operator: {
    permissions: [
      ...pkiReads,
      'devices.write',
      'devices.secrets',
      'history.read',
      'certificates.issue',
      'certificates.revoke',
      'crls.generate',
      'signers.sign',
      'approvals.read',
      'approvals.decide',
    ],
    isProtected: false,
  },
  Auditor: {
    permissions: permissions.filter((name) => name.endsWith('.read')),
    isProtected: false,
  },
  Default: { permissions: pkiReads, isProtected: false },
};
