import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Principal } from '#core/access/principal.ts';
import type { Gateway } from '#core/gateway.ts';
import { parseCertificate } from '#core/x509/certificate.ts';
import type { LoadedConfiguration } from './config-file.ts';
import { reason } from './reason.ts';
import type { Addresses } from './service.ts';

/** The result of one check. A `note` needs no attention now. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'note' | 'problem';
  readonly what: string;
  /** What to do about a note or a problem. */
  readonly remedy?: string;
}

/** An opened installation. */
interface Opened extends Addresses {
  readonly gateway: Gateway;
  readonly principal: Principal;
}

const day = 86_400_000;
const megabyte = 1_000_000;
/** A disk with less free space needs attention: this share of it, or this many octets. */
const leastFree = { share: 0.05, octets: 500 * megabyte };
/** How long before their end certificates and CRLs need attention, in milliseconds. */
const tlsWarning = 7 * day;
const crlWarning = day;
/** The tolerated difference between this clock and the newest audit event, in milliseconds. */
const clockTolerance = 60_000;
/** How long the running gateway may take to respond, in milliseconds. */
const patience = 5000;

/**
 * Runs every check. `open` opens the installation for its argument. A check that fails itself, or an installation that
 * cannot be opened, is a problem of its own; the other checks go on.
 */
export async function diagnose(
  loaded: LoadedConfiguration,
  open: (use: (opened: Opened) => Promise<readonly Finding[]>) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const local = await all([
    ['permissions', async () => permissions(loaded)],
    ['disk', async () => disks(loaded)],
  ]);
  const inside = await open((opened) =>
    all([
      ['clock', () => clock(opened)],
      ['health', () => health(opened)],
      ['CRLs', () => crls(opened)],
      ['TLS certificate', () => tlsCertificate(opened)],
      ['backups', () => backups(opened)],
      ['service', () => service(opened)],
    ]),
  ).catch((error) => [
    problem(
      'installation',
      `cannot be opened: ${reason(error)}`,
      'Mend this first: most checks need the database and the keys.',
    ),
  ]);
  return [...local, ...inside];
}

type Check = readonly [name: string, run: () => Promise<readonly Finding[]>];

async function all(checks: readonly Check[]): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const [check, run] of checks) {
    const found = await run().catch((error) => [
      problem(check, `cannot be checked: ${reason(error)}`, 'See the log.'),
    ]);
    findings.push(...found);
  }
  return findings;
}

const ok = (check: string, what: string): Finding => ({ check, state: 'ok', what });
const problem = (check: string, what: string, remedy: string): Finding => ({
  check,
  state: 'problem',
  what,
  remedy,
});

/** Secrets at rest must be readable for the account of the service alone. */
function permissions({ dataDirectory, file, configuration }: LoadedConfiguration): readonly Finding[] {
  const keys = join(dataDirectory, 'keys');
  const secret = [
    dataDirectory,
    configuration.secrets.key_file ?? join(dataDirectory, 'master.key'),
    keys,
    ...(existsSync(keys)
      ? readdirSync(keys, { recursive: true }).map((name) => join(keys, String(name)))
      : []),
  ].filter((path) => existsSync(path));
  const open = secret.filter((path) => (statSync(path).mode & 0o077) !== 0);
  const findings = open
    .slice(0, 10)
    .map((path) => problem('permissions', `other accounts can read ${path}`, `chmod go-rwx '${path}'`));
  if (file !== undefined && (statSync(file).mode & 0o022) !== 0)
    findings.push(problem('permissions', `other accounts can change ${file}`, `chmod go-w '${file}'`));
  return findings.length > 0
    ? findings
    : [ok('permissions', `${secret.length} files and directories belong to this account alone`)];
}

function disks({ dataDirectory, configuration }: LoadedConfiguration): readonly Finding[] {
  const directories = new Set([dataDirectory, configuration.log.directory ?? dataDirectory]);
  return [...directories].map((directory) => {
    const { bavail, blocks, bsize } = statfsSync(directory);
    const free = bavail * bsize;
    const what = `${directory}: ${Math.floor(free / megabyte)} MB free (${Math.floor((100 * bavail) / blocks)} %)`;
    return bavail / blocks < leastFree.share || free < leastFree.octets
      ? problem('disk', what, 'Free some space: with a full disk, nothing can be issued or revoked.')
      : ok('disk', what);
  });
}

async function clock({ gateway, principal }: Opened): Promise<readonly Finding[]> {
  const { records } = await gateway.auditEvents.list(principal, { limit: 1 });
  const ahead = (records[0]?.at ?? 0) - Date.now();
  if (ahead > clockTolerance) {
    const what = `the newest audit event is ${Math.round(ahead / 1000)} seconds in the future`;
    return [problem('clock', what, 'Set the clock of this machine, and synchronize it by NTP or chrony.')];
  }
  const synchronized = ntpState();
  if (synchronized === 'no') {
    const what = 'the clock of this machine is not synchronized';
    return [{ check: 'clock', state: 'note', what, remedy: 'Synchronize it by NTP, chrony or PTP.' }];
  }
  return [ok('clock', synchronized === 'yes' ? 'synchronized' : 'not before the newest audit event')];
}

/** Returns what systemd knows; undefined without it. */
function ntpState(): string | undefined {
  try {
    const { success, stdout } = Bun.spawnSync(['timedatectl', 'show', '-p', 'NTPSynchronized', '--value'], {
      stderr: 'ignore',
      timeout: patience,
    });
    return success ? stdout.toString().trim() : undefined;
  } catch {
    return undefined;
  }
}

/** What to do when a check of `gateway.health()` fails, by the beginning of its name. */
const remedies: Readonly<Record<string, string>> = {
  store: 'Check the database: that it runs, has space and accepts writes from this machine.',
  'keys.': 'Check the key store or the HSM: library, token, PIN, connection.',
  configuration:
    'Correct or delete the record that is named; see "Records that cannot be loaded" in the docs.',
  issuing: 'Create a successor of the CA, and assign the domains to it.',
  'issuers.': 'Check the network, the URL and the credential of the upstream CA.',
};

async function health({ gateway }: Opened): Promise<readonly Finding[]> {
  return Object.entries(await gateway.health()).map(([name, { ok: isOk, detail }]) => {
    const check = name === 'issuing' ? 'issuing CAs' : name === 'store' ? 'database' : name;
    if (isOk) return ok(check, detail ?? 'ok');
    const [, remedy = 'See the log.'] =
      Object.entries(remedies).find(([start]) => name.startsWith(start)) ?? [];
    return problem(check, detail ?? 'not ok', remedy);
  });
}

/** By the gauges that monitoring sees as well. */
async function crls({ gateway, principal }: Opened): Promise<readonly Finding[]> {
  const families = await gateway.metrics(principal);
  const { samples = [] } = families.find(({ name }) => name === 'postern_crl_expires_in_seconds') ?? {};
  return samples.map(({ labels, value }) => {
    const left = value * 1000;
    const what = `CA ${labels.ca}: the CRL ${left <= 0 ? 'has expired' : `expires in ${inDays(left)}`}`;
    return left < crlWarning
      ? problem(
          'CRLs',
          what,
          'Start the gateway and check its log: it renews CRLs when a third of their validity is left.',
        )
      : ok('CRLs', what);
  });
}

async function tlsCertificate({ gateway }: Opened): Promise<readonly Finding[]> {
  const { certificate } = await gateway.tlsCredential();
  const { notBefore, notAfter } = parseCertificate(certificate);
  const now = Date.now();
  const left = notAfter - now;
  const what =
    now < notBefore
      ? 'the TLS certificate is not valid yet'
      : `the TLS certificate ${left <= 0 ? 'has expired' : `expires in ${inDays(left)}`}`;
  return now < notBefore || left < tlsWarning
    ? [
        problem(
          'TLS certificate',
          what,
          'Install a new one with postern tls set; a certificate of its own is renewed by the running gateway.',
        ),
      ]
    : [ok('TLS certificate', what)];
}

async function backups({ gateway, principal }: Opened): Promise<readonly Finding[]> {
  const { records } = await gateway.backups.list(principal, { limit: 1000 });
  const failed = records.filter(({ lastResult }) => lastResult?.startsWith('failed') === true);
  if (failed.length > 0) {
    return failed.map(({ remoteDirectory, lastResult }) =>
      problem('backups', `${remoteDirectory}: ${lastResult}`, 'Mend the cause, then run the backup again.'),
    );
  }
  const last = Math.max(0, ...records.map(({ lastRunAt }) => lastRunAt ?? 0));
  if (last > 0) return [ok('backups', `the last one is ${inDays(Date.now() - last)} old`)];
  return [
    {
      check: 'backups',
      state: 'note',
      what: 'the gateway has made no backup',
      remedy: 'Run postern backup FILE from a timer, or add a backup directory in the console.',
    },
  ];
}

/** A gateway that does not run is no problem: the command may be used before the first start. */
async function service({ baseUrl }: Opened): Promise<readonly Finding[]> {
  let response: Response;
  try {
    response = await fetch(`${baseUrl}/readyz`, {
      // This is a question to the own service, whose certificate has been checked above.
      tls: { rejectUnauthorized: false },
      signal: AbortSignal.timeout(patience),
    });
  } catch {
    const remedy = 'Start it with postern serve, or systemctl start postern.';
    return [{ check: 'service', state: 'note', what: `nothing responds at ${baseUrl}`, remedy }];
  }
  const text = (await response.text()).trim();
  return response.ok
    ? [ok('service', `ready at ${baseUrl}`)]
    : [problem('service', `not ready at ${baseUrl}: ${text.slice(0, 500)}`, 'Mend what it names.')];
}

function inDays(milliseconds: number): string {
  const days = Math.floor(milliseconds / day);
  return days === 1 ? '1 day' : days > 1 ? `${days} days` : `${Math.floor(milliseconds / 3_600_000)} hours`;
}
