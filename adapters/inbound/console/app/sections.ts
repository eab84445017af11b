/** The first segments of the console's paths; a page's path begins with one of them. `/` is the overview. */
export const sections = [
  'sign-in',
  'password',
  'approvals',
  'devices',
  'certificates',
  'cas',
  'domains',
  'profiles',
  'truststores',
  'signers',
  'registrations',
  'transactions',
  'upstreams',
  'users',
  'roles',
  'service-accounts',
  'webhooks',
  'audit',
  'logs',
  'backups',
  'settings',
  'tls',
] as const;

export type Section = (typeof sections)[number];
