import { demand, type Principal } from '../access/principal.ts';
import { audit, systemActor } from '../audit/record.ts';
import type { RuntimeSettings } from '../configuration/runtime-settings.ts';
import { Fault } from '../fault.ts';
import type { LogFile } from '../ports/platform.ts';
import type { Ports } from '../ports/ports.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'logFiles' | 'store'> {}

export interface LogFilesUse {
  list(principal: Principal): Promise<readonly LogFile[]>;
  /** Returns a file with its text; for a file of more than 64 MiB, its end. Faults: notFound. */
  read(principal: Principal, name: string): Promise<LogFile & { readonly content: Uint8Array }>;
  /** Faults: notFound. */
  remove(principal: Principal, name: string): Promise<void>;
}

const mostOctets = 64 * 1024 * 1024;
const day = 24 * 3_600_000;

export function logFiles(context: Dependencies): LogFilesUse {
  const { logFiles: files, store } = context;
  return {
    async list(principal) {
      demand(principal, 'logs.read');
      return files.list();
    },
    async read(principal, name) {
      demand(principal, 'logs.read');
      const file = (await files.list()).find((file) => file.name === name);
      if (!file) throw new Fault('notFound', 'there is no such log file');
      return { ...file, content: await files.read(name, mostOctets) };
    },
    async remove(principal, name) {
      demand(principal, 'logs.write');
      await files.remove(name);
      await store.commit([audit(context, principal.actor, { action: 'log.delete', object: `log:${name}` })]);
    },
  };
}

/** Deletes files older than the retention period in the settings, but never the current file. */
export async function pruneLogs(context: Dependencies, { logRetentionDays }: RuntimeSettings): Promise<void> {
  if (logRetentionDays === null) return;
  const { logFiles: files, store, clock } = context;
  const oldest = clock.now() - logRetentionDays * day;
  for (const { name, modified } of (await files.list()).slice(0, -1)) {
    if (modified >= oldest) continue;
    await files.remove(name);
    await store.commit([audit(context, systemActor, { action: 'log.delete', object: `log:${name}` })]);
  }
}
