import { toFault } from '#core/fault.ts';

/** Returns the error message for the operator. Unlike clients, the operator also sees causes and the details of defects. */
export function reason(error: unknown): string {
  const { code, detail, cause } = toFault(error);
  const why = cause instanceof Error ? cause.message : '';
  if (why === '') return detail;
  if (code === 'internal') return why;
  return code === 'unavailable' || code === 'notFound' ? `${detail}: ${why}` : detail;
}
