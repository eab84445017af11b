import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { shell } from '#tests/fixtures/server.ts';
import type { Site } from './site.ts';

interface Made {
  readonly id: number;
}

/** The machines of the plant, by domain. */
const machines: Readonly<Record<string, readonly string[]>> = {
  'press-shop': ['press-01', 'press-02', 'press-03', 'press-04', 'feeder-01', 'feeder-02'],
  'paint-shop': ['robot-01', 'robot-02', 'robot-03', 'oven-01', 'conveyor-north-gateway-controller'],
  'water-supply': ['pump-01', 'pump-02', 'pump-03', 'valve-01', 'valve-02'],
  default: ['camera-01', 'camera-02', 'badge-reader-01', 'forklift-07'],
};

/**
 * Fills a gateway with a plant of ordinary size: 20 devices in four domains, six CAs, certificates that are valid, expire soon, are
 * revoked and on hold, and requests that wait for approval. Enrols with real keys over REST.
 */
export async function buildPlant(site: Site): Promise<void> {
  const { api } = site;
  const cas = await createCas(site);
  const { id: short } = (await api('POST', '/api/cert-profiles/', {
    unique_name: 'commissioning',
    profile: { validity: { duration: 'P9D' }, subject: { CN: {} } },
  })) as Made;
  const domains = new Map<string, number>([['default', 1]]);
  for (const [n, name] of ['press-shop', 'paint-shop', 'water-supply'].entries()) {
    const { id } = (await api('POST', '/api/domains/', { unique_name: name, issuing_ca: cas[n] })) as Made;
    domains.set(name, id);
  }
  for (const id of domains.values()) {
    const { profiles } = (await api('GET', `/api/domains/${id}/`)) as { profiles: object[] };
    await api('PATCH', `/api/domains/${id}/`, { profiles: [...profiles, { profile: short, alias: null }] });
  }
  await enrolAll(site, domains);
  await changeStates(site);
  await askForApproval(site, domains);
  await api('POST', '/api/backups/', { remote_directory: 'sftp://backup@vault.plant.example/srv/postern' });
}

/** Three CAs of this plant under the root, an independent root and one that another tool has made: six with those of the start. */
async function createCas({ api, server }: Site): Promise<readonly number[]> {
  const ids: number[] = [];
  for (const [name, common] of [
    ['press-shop', 'Press shop issuing CA'],
    ['paint-shop', 'Paint shop issuing CA'],
  ]) {
    const body = { issuing_ca_type: 1, parent: 1, unique_name: name, common_name: common };
    ids.push(((await api('POST', '/api/issuing-cas/', body)) as Made).id);
  }
  await api('POST', '/api/issuing-cas/', {
    issuing_ca_type: 0,
    unique_name: 'root-2027',
    common_name: 'Plant root 2027',
    key_type: 'p-384',
  });
  const { status, stderr } = shell(
    server.directory,
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout legacy.key -out legacy.pem -days 45 -subj '/O=Plant/CN=Water supply CA 2016' -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign",
  );
  if (status !== 0) throw new Error(stderr);
  const imported = (await api('POST', '/api/issuing-cas/', {
    unique_name: 'water-supply-legacy',
    issuing_ca_type: 2,
    private_key: readFileSync(join(server.directory, 'legacy.key'), 'utf8'),
    certificate: readFileSync(join(server.directory, 'legacy.pem'), 'utf8'),
  })) as Made;
  return [...ids, imported.id];
}

async function enrolAll(site: Site, domains: ReadonlyMap<string, number>): Promise<void> {
  for (const [domain, names] of Object.entries(machines)) {
    for (const [n, name] of names.entries()) {
      const password = await register(site, name, domains.get(domain)!);
      // The last one of each domain has not enrolled yet; of the others, one in three is being commissioned.
      if (n === names.length - 1) continue;
      const path = n % 3 === 1 ? `${domain}/commissioning` : domain;
      await enrol(site, path, name, password);
    }
  }
  // A device that was given the wrong password.
  await enrol(site, 'press-shop', 'press-01', 'wrong', 401);
}

/** Adds a device; returns its password for EST and REST. */
async function register({ api }: Site, name: string, domain: number): Promise<string> {
  const device = (await api('POST', '/api/devices/', {
    common_name: name,
    serial_number: `SN-${name.toUpperCase()}`,
    domain,
  })) as { no_onboarding_config: number };
  const config = await api('GET', `/api/no-onboarding-configs/${device.no_onboarding_config}/`);
  return (config as { est_password: string }).est_password;
}

async function enrol(
  { server }: Site,
  path: string,
  name: string,
  password: string,
  expected = 200,
): Promise<void> {
  const line = `openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ${name}.key -subj /CN=${name}`;
  const { stdout: csr } = shell(server.directory, line);
  const { status } = await fetch(`${server.baseUrl}/rest/${path}/enroll`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
    },
    body: JSON.stringify({ csr }),
    tls: { rejectUnauthorized: false },
  });
  if (status !== expected) throw new Error(`${name}: ${status}, not ${expected}`);
}

/** Revokes two certificates, puts one on hold and blocks a device. */
async function changeStates({ api }: Site): Promise<void> {
  for (const [name, reason] of [
    ['press-02', 'keyCompromise'],
    ['robot-02', 'superseded'],
    ['pump-02', 'certificateHold'],
  ]) {
    const [certificate] = (await api('GET', `/api/certificates/?search=${name}`)) as Made[];
    await api('POST', `/api/certificates/${certificate!.id}/revoke/`, { reason });
  }
  const [camera] = (await api('GET', '/api/devices/?search=camera-02')) as Made[];
  await api('POST', `/api/devices/${camera!.id}/block/`, {});
}

/** The requests of three gates wait for two approvers. */
async function askForApproval(site: Site, domains: ReadonlyMap<string, number>): Promise<void> {
  await site.api('POST', '/api/approval-policies/', {
    unique_name: 'Gates need two approvers',
    priority: 10,
    decision: 'manual',
    approvers: 2,
    device_pattern: 'valve-0.*',
  });
  for (const name of ['valve-03', 'valve-04', 'valve-05']) {
    const password = await register(site, name, domains.get('water-supply')!);
    await enrol(site, 'water-supply', name, password, 202);
  }
}
