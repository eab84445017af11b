import { auditCommands } from './audit.ts';
import { backupCommands } from './backup.ts';
import { caCommands } from './ca.ts';
import { certificateCommands } from './certificate.ts';
import type { Command } from './command.ts';
import { completionCommand } from './completion.ts';
import { deviceCommands } from './device.ts';
import { doctorCommands } from './doctor.ts';
import { listCommands } from './list.ts';
import { manualCommand } from './manual.ts';
import { pluginCommands } from './plugin.ts';
import { secretsCommands } from './secrets.ts';
import { serveCommands } from './serve.ts';
import { serviceAccountCommands } from './service-account.ts';
import { storeCommands } from './store.ts';
import { tlsCommands } from './tls.ts';
import { userCommands } from './user.ts';

/** All commands, in the order of the overview. */
export const commands: readonly Command[] = [
  ...serveCommands,
  ...doctorCommands,
  ...deviceCommands,
  ...certificateCommands,
  ...caCommands,
  ...tlsCommands,
  ...userCommands,
  ...serviceAccountCommands,
  ...secretsCommands,
  ...auditCommands,
  ...backupCommands,
  ...storeCommands,
  ...listCommands,
  ...pluginCommands,
  completionCommand(() => commands),
  manualCommand(() => commands),
];
