/** The path of every page of the console; `:name` stands for one segment. `pages.ts` has the page of each. */
export const paths = [
  '/',
  '/sign-in',
  '/password',
  '/approvals',
  '/approvals/policies',
  '/approvals/:id',
  '/devices',
  '/devices/new',
  '/devices/imports',
  '/devices/imports/:id',
  '/devices/:id',
  '/certificates',
  '/certificates/:id',
  '/cas',
  '/cas/new',
  '/cas/:id',
  '/domains',
  '/domains/:id',
  '/profiles',
  '/profiles/new',
  '/profiles/:id',
  '/profiles/:id/edit',
  '/truststores',
  '/truststores/:id',
  '/registrations',
  '/registrations/:id',
  '/signers',
  '/signers/:id',
  '/transactions',
  '/upstreams',
  '/users',
  '/roles',
  '/roles/new',
  '/roles/:id',
  '/service-accounts',
  '/webhooks',
  '/webhooks/messages',
  '/audit',
  '/logs',
  '/logs/:name',
  '/backups',
  '/settings',
  '/tls',
  '/tls/new',
  '/tls/:id',
] as const;

export type PagePath = (typeof paths)[number];

/** Returns the parameters of a path that fits a pattern; undefined if it does not fit. */
export function match(pattern: string, of: string): Readonly<Record<string, string>> | undefined {
  const wanted = pattern.split('/');
  const given = of.replace(/(?<=.)\/$/, '').split('/');
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [n, segment] of wanted.entries()) {
    const value = given[n]!;
    if (segment.startsWith(':')) {
      try {
        params[segment.slice(1)] = decodeURIComponent(value);
      } catch {
        return undefined;
      }
    } else if (segment !== value) return undefined;
  }
  return params;
}
