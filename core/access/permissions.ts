/** All permissions of the Management API, with what each of them allows. */
export const permissionMeanings = {
  'backups.read': 'list backup directories',
  'backups.write': 'create backup directories and make backups',
  'profiles.read': 'read certificate profiles',
  'profiles.write': 'change certificate profiles',
  'certificates.read': 'read the inventory',
  'certificates.issue': 'request certificates over the API',
  'certificates.revoke': 'revoke, hold and release',
  'certificates.write': 'rename and hide inventory entries',
  'devices.read': 'read devices',
  'devices.write': 'create, change, block and delete devices',
  'devices.secrets': 'read the secrets of devices',
  'history.read': 'read the events of a device',
  'domains.read': 'read domains',
  'domains.write': 'change domains',
  'cas.read': 'read issuing CAs',
  'cas.write': 'create, import and change issuing CAs',
  'crls.read': 'download CRLs over the API',
  'crls.generate': 'issue a CRL now',
  'credentials.read': 'read credentials (`/api/tls/`)',
  'credentials.write': 'create and activate credentials',
  'signers.read': 'read signers',
  'signers.sign': 'sign a hash',
  'truststores.read': 'read truststores',
  'truststores.write': 'change truststores',
  'registrations.read': 'read DevID registrations',
  'registrations.write': 'change DevID registrations',
  'approvals.read': 'read approvals and policies',
  'approvals.decide': 'approve and reject',
  'policies.write': 'change approval policies',
  'webhooks.read': 'read webhooks and deliveries',
  'webhooks.write': 'change webhooks',
  'accounts.read': 'read users, roles, service accounts',
  'accounts.write': 'change users, roles and service accounts',
  'audit.read': 'read and verify the audit trail',
  'logs.read': 'read log files',
  'logs.write': 'delete log files',
  'settings.read': 'read settings',
  'settings.write': 'change settings, the security level included',
  'metrics.read': 'read metrics (`/metrics`)',
} as const;

export type Permission = keyof typeof permissionMeanings;

export const permissions = Object.keys(permissionMeanings) as readonly Permission[];

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
