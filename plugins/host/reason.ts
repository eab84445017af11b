import { toFault } from '#core/fault.ts';

/** What went wrong, for the operator: other than clients, who are told no causes, and of a defect nothing at all. */
export function reason(error: unknown): string {
  const { code, detail, cause } = toFault(error);
  const why = cause instanceof Error ? cause.message : '';
  if (why === '') return detail;
  if (code === 'internal') return why;
  return code === 'unavailable' || code === 'notFound' ? `${detail}: ${why}` : detail;
}
