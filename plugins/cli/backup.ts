import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { decodePem } from '#adapters/wire/pem.ts';
import type { RestoreResult } from '#core/backups/settle.ts';
import { describeSetAside } from '#core/configuration/configuration.ts';
import { Fault } from '#core/fault.ts';
import { parseCrl } from '#core/x509/crl.ts';
import { loadConfiguration } from '../host/config-file.ts';
import { reason } from '../host/reason.ts';
import type { Restored, RestoreProgress } from '../host/restore.ts';
import {
  type Command,
  configOption,
  dataOption,
  exit,
  type Invocation,
  jsonOption,
  operatorName,
  printJson,
  UsageError,
  withGateway,
} from './command.ts';
import { ask, progressOf } from './terminal.ts';

const where = { json: jsonOption, data: dataOption, config: configOption };
const passphrases = `The passphrase is taken from POSTERN_BACKUP_PASSPHRASE, else from passphrase in [backup] of the configuration. If neither
is set, the command asks for it on the terminal.`;

export const backupCommands: readonly Command[] = [
  {
    name: 'backup',
    positionals: ['FILE'],
    summary: 'Write the store, the keys and the configuration into one encrypted file.',
    details: `FILE must not exist yet. The service can keep running: the backup is a consistent snapshot.
${passphrases}`,
    options: where,
    async run(invocation) {
      const file = resolve(invocation.positionals[0]!);
      const passphrase = await passphraseOf(invocation, 'new');
      const progress = progressOf('writing the backup');
      const { size, finishedAt } = await withGateway(invocation, ({ gateway }) =>
        gateway.backups
          .write(gateway.accounts.operator(operatorName()), file, passphrase, (octets) => progress.at(octets))
          .finally(() => progress.end()),
      );
      if (invocation.options.json === true) {
        printJson({ file, size, finished_at: new Date(finishedAt).toISOString() });
      } else {
        console.log(`Backup written to ${file} (${size} bytes).`);
      }
      return exit.success;
    },
  },
  {
    name: 'restore',
    positionals: ['FILE'],
    summary: 'Restore a backup into an empty data directory and an empty database.',
    details: `The whole backup is verified before anything is written. It does not contain revocations made after the backup: pass the
newest CRL of each CA with --crl (PEM or DER), and the certificates on it are revoked again before the service starts.
Every CA issues a new CRL whose number is higher than any number it can have published.
${passphrases}`,
    options: {
      crl: {
        type: 'string',
        value: 'FILE',
        multiple: true,
        help: 'A CRL published after the backup; repeat for each CRL',
      },
      ...where,
    },
    async run(invocation) {
      const file = resolve(invocation.positionals[0]!);
      const { crl = [], json } = invocation.options;
      // CRLs are read first, so that an invalid file is reported before anything is written.
      const crls = (await Promise.all((crl as readonly string[]).map(readCrls))).flat();
      const passphrase = await passphraseOf(invocation, 'known');
      const loaded = await loadConfiguration(invocation.place, invocation.catalog);
      const { restoreBackup } = await import('../host/restore.ts');
      const restored = await restoreBackup(loaded, file, passphrase, progressOfRestore(file));
      const { createdAt } = restored.summary;
      const result = await withGateway(invocation, ({ gateway }) =>
        gateway.backups
          .settle(gateway.accounts.operator(operatorName()), { createdAt, crls })
          .catch((error) => {
            if (restored.again && error instanceof Fault && error.code === 'conflict') throw notEmpty;
            throw error;
          }),
      );
      if (json === true) printJson(described(restored, result));
      else print(restored, result);
      warn(restored, result);
      return exit.success;
    },
  },
];

/** Reports the progress of a restore. A file that cannot be read counts as empty here; reading the backup reports the error. */
function progressOfRestore(file: string): RestoreProgress {
  const total = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const lines = {
    checking: progressOf('checking the backup'),
    restoring: progressOf('restoring the backup'),
  };
  return (phase, octets) => {
    if (octets === total) lines[phase].end();
    else lines[phase].at(octets, total);
  };
}

const notEmpty = new Fault('conflict', 'the database is not empty: restore a backup into an empty database');

/** Returns the operator's passphrase. For a new backup, the terminal asks for it twice. */
async function passphraseOf(invocation: Invocation, state: 'new' | 'known'): Promise<string> {
  const { configuration } = await loadConfiguration(invocation.place, invocation.catalog);
  const given = process.env.POSTERN_BACKUP_PASSPHRASE || configuration.backup.passphrase;
  if (given !== undefined) return given;
  if (!process.stdin.isTTY) {
    throw new UsageError('no backup passphrase: set POSTERN_BACKUP_PASSPHRASE, or passphrase in [backup]');
  }
  const typed = await ask('Backup passphrase: ');
  if (state === 'new' && (await ask('Repeat the passphrase: ')) !== typed)
    throw new UsageError('the passphrases do not match');
  return typed;
}

/** Reads the CRLs (DER) of a file in PEM or DER. */
async function readCrls(path: string): Promise<readonly Uint8Array[]> {
  const bytes = await readFile(path).catch((cause) => {
    throw new Fault('unavailable', `${path} cannot be read`, { cause });
  });
  try {
    const crls = crlsIn(bytes);
    for (const der of crls) parseCrl(der);
    return crls;
  } catch (error) {
    throw new Fault('malformed', `${path} does not contain a CRL: ${reason(error)}`, { cause: error });
  }
}

function crlsIn(bytes: Buffer): readonly Uint8Array[] {
  // DER begins with the tag of a SEQUENCE, PEM never does.
  if (bytes[0] === 0x30) return [new Uint8Array(bytes)];
  const blocks = decodePem(bytes.toString('latin1')).filter(({ label }) => label === 'X509 CRL');
  if (blocks.length === 0) throw new Fault('malformed', 'no PEM block is an X509 CRL');
  return blocks.map(({ der }) => der);
}

const described = ({ summary, configuration }: Restored, result: RestoreResult) => ({
  created_at: new Date(summary.createdAt).toISOString(),
  records: summary.rows,
  keys: summary.keys,
  revoked: result.revoked,
  revoked_unknown: result.unknown,
  without_crl: result.withoutCrl,
  keys_elsewhere: summary.keysElsewhere,
  set_aside: result.setAside.map(({ kind, id, uniqueName, reason }) => ({
    kind,
    id,
    unique_name: uniqueName,
    reason,
  })),
  configuration: configuration ?? null,
});

function print({ summary, again, configuration }: Restored, { revoked, unknown }: RestoreResult): void {
  const at = new Date(summary.createdAt).toISOString();
  console.log(
    again
      ? `The interrupted restore of the backup of ${at} has been completed.`
      : `The backup of ${at} has been restored: ${summary.rows} records, ${summary.keys} keys.`,
  );
  if (revoked > 0) console.log(`Certificates revoked again from the CRLs: ${revoked}.`);
  if (unknown > 0)
    console.log(`Certificates issued and revoked after the backup, and listed on the new CRLs: ${unknown}.`);
  if (configuration !== undefined) {
    console.log(`The configuration from the backup was written to ${configuration}. It is not active.`);
  }
}

function warn({ summary }: Restored, { withoutCrl, withoutNewCrl, setAside }: RestoreResult): void {
  const at = new Date(summary.createdAt).toISOString();
  if (withoutCrl.length > 0) {
    console.error(`WARNING: revocations after ${at} are lost for the CAs ${withoutCrl.join(', ')}: no later CRL
  of these CAs was given. Revoke those certificates again before devices connect, or repeat the restore with --crl FILE.`);
  }
  console.error(
    `WARNING: certificates issued after ${at} are not in the inventory: they can neither be renewed nor revoked.`,
  );
  if (withoutNewCrl.length > 0) {
    console.error(`WARNING: no new CRL was issued for ${withoutNewCrl.join(', ')}: see the log.`);
  }
  for (const record of setAside) {
    console.error(`WARNING: ${describeSetAside(record)}. Everything else is served.`);
  }
  if (summary.keysElsewhere.length > 0) {
    console.error(
      `NOTE: the backup does not contain the keys in ${summary.keysElsewhere.join(', ')}: they stay in their token.`,
    );
  }
}
