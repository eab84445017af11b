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
import { ask } from './ask.ts';
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
import { progressOf } from './progress.ts';

const where = { json: jsonOption, data: dataOption, config: configOption };
const passphrases = `The passphrase is POSTERN_BACKUP_PASSPHRASE or, without that, passphrase in [backup] of the configuration; else it
is asked for on a terminal.`;

export const backupCommands: readonly Command[] = [
  {
    name: 'backup',
    positionals: ['FILE'],
    summary: 'Write the store, the keys and the configuration into one encrypted file.',
    details: `FILE must not be there yet. The service may go on: what is written is how everything stands at one moment.
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
        console.log(`${file} has been written, ${size} octets.`);
      }
      return exit.success;
    },
  },
  {
    name: 'restore',
    positionals: ['FILE'],
    summary: 'Restore a backup into an empty data directory and an empty database.',
    details: `The whole backup is checked before anything is written. It does not know what was revoked after it was made: give the
newest CRL of each CA with --crl (PEM or DER), and what stands there is revoked again before the service starts. Every CA
makes a new CRL, with a number above all that it can have published.
${passphrases}`,
    options: {
      crl: {
        type: 'string',
        value: 'FILE',
        multiple: true,
        help: 'A CRL that was published after the backup; once for each',
      },
      ...where,
    },
    async run(invocation) {
      const file = resolve(invocation.positionals[0]!);
      const { crl = [], json } = invocation.options;
      // Read before anything is written: what is no CRL is said at once.
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

/** Of a file that cannot be read, something else tells. */
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

const notEmpty = new Fault(
  'conflict',
  'the database is not empty: a backup is restored into an empty one only',
);

/** Of the operator. For a new backup a terminal asks twice. */
async function passphraseOf(invocation: Invocation, state: 'new' | 'known'): Promise<string> {
  const { configuration } = await loadConfiguration(invocation.place, invocation.catalog);
  const given = process.env.POSTERN_BACKUP_PASSPHRASE || configuration.backup.passphrase;
  if (given !== undefined) return given;
  if (!process.stdin.isTTY) {
    throw new UsageError('no passphrase: neither in POSTERN_BACKUP_PASSPHRASE nor in [backup]');
  }
  const typed = await ask('Passphrase of the backup: ');
  if (state === 'new' && (await ask('Again: ')) !== typed) throw new UsageError('the two are not the same');
  return typed;
}

/** DER, of a file in PEM or DER. */
async function readCrls(path: string): Promise<readonly Uint8Array[]> {
  const bytes = await readFile(path).catch((cause) => {
    throw new Fault('unavailable', `${path} cannot be read`, { cause });
  });
  try {
    const crls = crlsIn(bytes);
    for (const der of crls) parseCrl(der);
    return crls;
  } catch (error) {
    throw new Fault('malformed', `${path} holds no CRL: ${reason(error)}`, { cause: error });
  }
}

function crlsIn(bytes: Buffer): readonly Uint8Array[] {
  // A SEQUENCE; no PEM begins like that.
  if (bytes[0] === 0x30) return [new Uint8Array(bytes)];
  const blocks = decodePem(bytes.toString('latin1')).filter(({ label }) => label === 'X509 CRL');
  if (blocks.length === 0) throw new Fault('malformed', 'PEM of something else');
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
      ? `The restore of the backup of ${at} has been brought to its end.`
      : `The backup of ${at} has been restored: ${summary.rows} records, ${summary.keys} keys.`,
  );
  if (revoked > 0) console.log(`Revoked again, as the CRLs say: ${revoked}.`);
  if (unknown > 0) console.log(`Issued and revoked after the backup, and on the new CRLs: ${unknown}.`);
  if (configuration !== undefined) {
    console.log(`The configuration of the backup is in ${configuration}; it is not in use there.`);
  }
}

function warn({ summary }: Restored, { withoutCrl, withoutNewCrl, setAside }: RestoreResult): void {
  const at = new Date(summary.createdAt).toISOString();
  if (withoutCrl.length > 0) {
    console.error(`WARNING: what was revoked after ${at} is good again, for the CAs ${withoutCrl.join(', ')}: no later CRL
  of theirs was given. Revoke it again before devices connect, or restore anew with --crl FILE.`);
  }
  console.error(
    `WARNING: certificates issued after ${at} are not known here: they can neither be renewed nor revoked.`,
  );
  if (withoutNewCrl.length > 0) {
    console.error(`WARNING: no new CRL yet for ${withoutNewCrl.join(', ')}: see the log.`);
  }
  for (const record of setAside) {
    console.error(`WARNING: ${describeSetAside(record)}. Postern serves everything else without it.`);
  }
  if (summary.keysElsewhere.length > 0) {
    console.error(
      `NOTE: the keys in ${summary.keysElsewhere.join(', ')} are not in the backup, they are in their device.`,
    );
  }
}
