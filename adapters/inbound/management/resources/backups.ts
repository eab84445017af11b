import { Type } from '@sinclair/typebox';
import type { BackupInput } from '#core/backups/backups.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Backup } from '#core/records/setting.ts';
import { recordId } from '../collection.ts';
import { type Description, timestamp } from '../description.ts';
import { json } from '../errors.ts';
import { dateTime, nullable, text } from '../fields.ts';
import { equalText } from '../filters.ts';
import { jsonResponse, type Route } from '../route.ts';
import { createdAtField, idField } from './common-fields.ts';

export const backups: Description<'backup', BackupInput, Backup> = {
  path: '/api/backups',
  tag: 'backups',
  kind: 'backup',
  permissions: { read: 'backups.read', write: 'backups.write' },
  fields: {
    id: idField,
    remote_directory: {
      schema: text(512, {
        min: 1,
        description: 'an absolute path, or sftp://user@host[:port]/path (no password)',
      }),
      required: true,
      orderable: true,
    },
    user: {
      schema: Type.String({ description: 'the account that created it' }),
      readOnly: true,
      orderable: true,
    },
    created_at: createdAtField,
    last_run_at: {
      schema: nullable(dateTime('when a backup was last attempted')),
      readOnly: true,
      orderable: true,
    },
    last_result: {
      schema: nullable(Type.String(), '`success: <file>` or `failed: <why>`'),
      readOnly: true,
    },
  },
  filters: { user: equalText('user') },
  toJson: (backup) => ({
    id: backup.id,
    remote_directory: backup.remoteDirectory,
    user: backup.user,
    created_at: timestamp(backup.createdAt),
    last_run_at: backup.lastRunAt === null ? null : timestamp(backup.lastRunAt),
    last_result: backup.lastResult,
  }),
  example: {
    id: 1,
    remote_directory: 'sftp://backup@vault.plant.example/srv/postern',
    user: 'admin',
    created_at: '2026-03-02T08:15:30.000',
    last_run_at: '2026-03-03T01:00:04.512',
    last_result: 'success: postern-20260303T010000.020Z.backup',
  },
  operations: (gateway) => gateway.backups,
};

/** `POST /api/backups/{id}/run/`. */
export const runBackup = (gateway: Gateway): Route => ({
  method: 'POST',
  path: `${backups.path}/:id/run`,
  operation: {
    id: 'runBackup',
    tag: 'backups',
    summary: 'Make a backup now',
    description:
      'Writes a consistent snapshot of the storage, the keys and the configuration to one encrypted file.',
    permission: 'backups.write',
    responses: {
      200: jsonResponse(
        'The backup file, completely written and synced to disk.',
        Type.Object(
          {
            id: Type.Integer(),
            file: Type.String({ description: 'file name in the directory' }),
            size: Type.Integer({ description: 'size in bytes' }),
            finished_at: dateTime('when the file was complete'),
          },
          { $id: 'BackupRun', additionalProperties: false },
        ),
        {
          id: 1,
          file: 'postern-20260303T010000.020Z.backup',
          size: 1_482_752,
          finished_at: '2026-03-03T01:00:04.512',
        },
      ),
    },
    failures: {
      409: 'No passphrase is configured, the directory cannot be used, or another backup is running.',
    },
  },
  async handle(principal, _request, { id }) {
    const option = recordId(id);
    const { name, size, finishedAt } = await gateway.backups.run(principal, option);
    return json(200, { id: option, file: name, size, finished_at: timestamp(finishedAt) });
  },
});
