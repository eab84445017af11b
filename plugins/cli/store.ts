import { loadConfiguration } from '../host/config-file.ts';
import type { CopyProgress, CopyResult } from '../host/copy-store.ts';
import { type Command, exit, operatorName, placeOptions, printJson, UsageError } from './command.ts';
import { progressOf } from './terminal.ts';

export const storeCommands: readonly Command[] = [
  {
    name: 'store copy',
    positionals: [],
    summary: 'Copy all records into another, empty database: from SQLite to PostgreSQL, or back.',
    details: `Stop every gateway first. The command copies all records, reads the copy and compares it with the original, and verifies
the audit trail of the copy. It does not change the original. Then replace [store] in the configuration as the command
prints it, and start the gateway. Key files and the master key stay in the data directory.

DESTINATION is one of: the URL of an empty PostgreSQL database (postgres://user@host/database; in single quotes,
'\${DATABASE_URL}' takes it from the environment, so that no password is on the command line); sqlite: or sqlite:FILE; or
a configuration file (FILE.toml) whose [store] is the destination.`,
    options: {
      to: { type: 'string', value: 'DESTINATION', help: 'The database that receives the copy' },
      ...placeOptions,
    },
    async run(invocation) {
      const { to, json } = invocation.options;
      if (typeof to !== 'string' || to === '') throw new UsageError('--to is missing');
      const { copyStore, destinationOf } = await import('../host/copy-store.ts');
      const loaded = await loadConfiguration(invocation.place, invocation.catalog);
      const destination = await destinationOf(to, invocation.place, invocation.catalog);
      const progress = copyProgress();
      const result = await copyStore(loaded, destination, operatorName(), progress.at).finally(progress.end);
      const isIntact = result.audit.problems.length === 0;
      if (json === true) {
        const { records, tables, audit } = result;
        printJson({ records, tables, audit_events: audit.events, audit_intact: isIntact });
      } else {
        print(result, to, loaded.file);
      }
      return isIntact ? exit.success : exit.failure;
    },
  },
];

function copyProgress(): { readonly at: CopyProgress; end(): void } {
  const records = (amount: number): string => `${amount} records`;
  const lines = {
    copying: progressOf('copying', process.stderr, undefined, records),
    comparing: progressOf('comparing', process.stderr, undefined, records),
  };
  return {
    at: (phase, _table, amount) => lines[phase].at(amount),
    end() {
      for (const line of Object.values(lines)) line.end();
    },
  };
}

function print({ records, tables, audit }: CopyResult, to: string, file: string | undefined): void {
  console.log(`Copied and compared: ${records} records in ${tables} tables.`);
  console.log(
    audit.problems.length === 0
      ? `The audit trail of the copy is intact: ${audit.events} events in ${audit.chains} chains.`
      : 'The audit trail is NOT INTACT, in the original as in the copy: see postern audit verify.',
  );
  const place = file ?? 'postern.toml (there is no configuration file yet)';
  if (to.endsWith('.toml')) {
    console.log(`To use the copy, start the gateway with --config ${to}.`);
    return;
  }
  console.log(`To use the copy, write this into ${place} in place of [store], and start the gateway:\n`);
  console.log(table(to));
}

/** The [store] table without a password: what stands on a screen is copied and logged. */
function table(to: string): string {
  if (!to.startsWith('sqlite:')) {
    const url = to.replace(/^(postgres(?:ql)?:\/\/[^/@:]*):[^@/]*@/, '$1@');
    const hint = url === to ? '' : '   # plus the password';
    return `[store]\nplugin = "postgres"\nurl = ${JSON.stringify(url)}${hint}`;
  }
  const path = to.slice('sqlite:'.length);
  return `[store]\nplugin = "sqlite"${path === '' ? '' : `\npath = ${JSON.stringify(path)}`}`;
}
