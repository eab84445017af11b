import type { Builder, Dialect } from '../queries.ts';
import { createIndex, createTable, dataTypes } from './columns.ts';

export async function approvals(builder: Builder, dialect: Dialect): Promise<void> {
  const { integer, text, boolean, bytes } = dataTypes[dialect];
  const kept = (name: string) => createTable(builder, dialect, name, { neverReused: false });
  const table = (name: string) => createTable(builder, dialect, name, { neverReused: true });

  await table('approval_policies')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('unique_name', text, (c) => c.notNull())
    .addColumn('priority', integer, (c) => c.notNull())
    .addColumn('is_active', boolean, (c) => c.notNull())
    .addColumn('protocols', text, (c) => c.notNull())
    .addColumn('operations', text, (c) => c.notNull())
    .addColumn('domain', integer, (c) => c.references('domains.id'))
    .addColumn('profile', integer, (c) => c.references('profiles.id'))
    .addColumn('device', integer, (c) => c.references('devices.id'))
    .addColumn('device_pattern', text)
    .addColumn('decision', text, (c) => c.notNull())
    .addColumn('approvers', integer, (c) => c.notNull())
    .addColumn('expires_in', integer, (c) => c.notNull())
    .addUniqueConstraint('approval_policies_unique_name_key', ['unique_name'])
    .execute();

  await kept('approvals')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('state', text, (c) => c.notNull())
    .addColumn('answers_for', text)
    .addColumn('request_digest', text, (c) => c.notNull())
    .addColumn('outcome_digest', text, (c) => c.notNull())
    .addColumn('policy', integer, (c) => c.notNull())
    .addColumn('policy_name', text, (c) => c.notNull())
    .addColumn('operation', text, (c) => c.notNull())
    .addColumn('protocol', text, (c) => c.notNull())
    .addColumn('domain', integer, (c) => c.notNull())
    .addColumn('domain_name', text, (c) => c.notNull())
    .addColumn('device', integer)
    .addColumn('device_name', text)
    .addColumn('profile', integer)
    .addColumn('profile_name', text)
    .addColumn('requester', text, (c) => c.notNull())
    .addColumn('requester_name', text, (c) => c.notNull())
    .addColumn('address', text, (c) => c.notNull())
    .addColumn('subject', text, (c) => c.notNull())
    .addColumn('request', bytes)
    .addColumn('request_kind', text)
    .addColumn('content', text, (c) => c.notNull())
    .addColumn('approvers', integer, (c) => c.notNull())
    .addColumn('approvals', integer, (c) => c.notNull())
    .addColumn('lasts', integer, (c) => c.notNull())
    .addColumn('expires_at', integer, (c) => c.notNull())
    .addColumn('certificate', integer, (c) => c.references('certificates.id'))
    .addUniqueConstraint('approvals_answers_for_key', ['answers_for'])
    .execute();
  await createIndex(builder, dialect, 'approvals', 'state', 'expires_at');
  await createIndex(builder, dialect, 'approvals', 'device');
  await createIndex(builder, dialect, 'approvals', 'requester');

  await kept('approval_decisions')
    .addColumn('created_at', integer, (c) => c.notNull())
    .addColumn('approval', integer, (c) => c.notNull().references('approvals.id').onDelete('cascade'))
    .addColumn('approver', text, (c) => c.notNull())
    .addColumn('approver_name', text, (c) => c.notNull())
    .addColumn('verdict', text, (c) => c.notNull())
    .addColumn('comment', text, (c) => c.notNull())
    .addUniqueConstraint('approval_decisions_approval_approver_key', ['approval', 'approver'])
    .execute();
}
