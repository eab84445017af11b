import { auditActions } from '#core/audit/actions.ts';
import { code, type Parts, table } from './page.ts';

/** The table of `docs/reference/audit-events.md`. */
export const auditEventParts: Parts = {
  'audit-events': table(
    ['Action', 'What happened'],
    Object.entries(auditActions).map(([action, meaning]) => [code(action), meaning]),
  ),
};
