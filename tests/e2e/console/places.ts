import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { shell } from '#tests/fixtures/server.ts';
import type { Site } from './site.ts';

/** A page as its file describes it. */
interface Described {
  /** `/devices/:id` */
  readonly path: string;
  readonly needs: string | undefined;
}

const folder = resolve(import.meta.dir, '../../../adapters/inbound/console/app/pages');

/** Every page of the console. */
export const pages: readonly Described[] = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.tsx'))
  .flatMap((name) => {
    const source = readFileSync(join(folder, name), 'utf8');
    return [
      ...source.matchAll(/: Page = \{\n {2}path: '([^']+)',(?:\n {2}title: .*)?(?:\n {2}needs: '([^']+)')?/g),
    ].map(([, path, needs]) => ({ path: path!, needs }));
  });

/** Where there is something to see for the pages of one thing: pattern → path. `populate` makes it so. */
const places: Readonly<Record<string, string>> = {
  '/approvals/:id': '/approvals/1',
  '/cas/:id': '/cas/2',
  '/certificates/:id': '/certificates/4',
  '/devices/:id': '/devices/1',
  '/devices/imports/:id': '/devices/imports/1',
  '/domains/:id': '/domains/1',
  '/profiles/:id': '/profiles/1',
  '/profiles/:id/edit': '/profiles/1/edit',
  '/logs/:name': '/logs/postern.log',
  '/registrations/:id': '/registrations/1',
  '/roles/:id': '/roles/2',
  '/signers/:id': '/signers/2',
  '/tls/:id': '/tls/1',
  '/truststores/:id': '/truststores/1',
};

export const placeOf = ({ path }: Described): string => places[path] ?? path;

/** A device that has enrolled, and others that have not. */
export async function populate(site: Site): Promise<void> {
  const { server, api } = site;
  const { commands } = await server.register('pump-1');
  for (const step of ['key', 'ca', 'est']) {
    const { status, stderr } = shell(server.directory, commands[step]!);
    if (status !== 0) throw new Error(`${step}: ${stderr}`);
  }
  for (const name of ['pump-2', 'valve-7', 'press-line-3'])
    await api('POST', '/api/devices/', { common_name: name, serial_number: `SN-${name}` });
  await populateTrust(site);
  await api('POST', '/api/devices/import/', {
    file: 'common_name,serial_number,domain\nfan-1,SN-F1,default\nfan-2,SN-F2,nowhere\n',
    file_name: 'line-3.csv',
  });
  await populateApprovals(site);
  await populateAdministration(site);
}

/** The certificates of a manufacturer, devices that they accept, and a signer that has signed. */
async function populateTrust({ server, api }: Site): Promise<void> {
  const { status, stdout, stderr } = shell(
    server.directory,
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout maker.key -days 7300 -subj '/O=Pump maker/CN=Pump maker IDevID root' -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign",
  );
  if (status !== 0) throw new Error(stderr);
  const { id: truststore } = (await api('POST', '/api/truststores/', {
    intended_usage: 0,
    trust_store_file: stdout,
  })) as { id: number };
  await api('POST', '/api/devid-registrations/', {
    unique_name: 'Pumps of line 7',
    truststore,
    domain: 1,
    serial_number_pattern: 'PMP-[0-9]{6}',
  });
  const { id: signer } = (await api('POST', '/api/tls/', {
    credential_type: 5,
    unique_name: 'firmware',
  })) as {
    id: number;
  };
  await api('POST', '/api/signers/sign/', { signer_id: signer, hash_value: 'ab'.repeat(32) });
}

/** The request of a gate waits for two people. */
async function populateApprovals({ server, api }: Site): Promise<void> {
  await api('POST', '/api/approval-policies/', {
    unique_name: 'gates need four eyes',
    priority: 10,
    decision: 'manual',
    approvers: 2,
    device_pattern: 'gate-.*',
  });
  const { commands } = await server.register('gate-1');
  // The response is 202 without a certificate.
  shell(server.directory, `${commands.key} && ${commands.est}`);
}

/** Something in every list of the administration. */
async function populateAdministration({ server, api }: Site): Promise<void> {
  const [role] = (await api('GET', '/api/roles/?unique_name=Operator')) as { id: number }[];
  await api('POST', '/api/service-accounts/', { unique_name: 'line-controller', role: role!.id });
  await api('POST', '/api/backups/', { remote_directory: 'sftp://backup@vault.plant.example/srv/postern' });
  const { id: webhook } = (await api('POST', '/api/webhooks/', {
    unique_name: 'ticketing',
    // Nobody is there.
    url: `https://localhost:${server.httpPort}/tickets`,
    events: ['approval.waiting', 'certificate.expiring'],
  })) as { id: number };
  await api('POST', `/api/webhooks/${webhook}/test/`);
  await api('POST', '/api/tls/', { credential_type: 0, unique_name: 'tls-next-year', key_type: 'p-384' });
  const { commands } = await server.register('valve-8');
  const { status, stderr } = shell(server.directory, `${commands.key} && ${commands.cmp}`);
  if (status !== 0) throw new Error(`cmp: ${stderr}`);
}
