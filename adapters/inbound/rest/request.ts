import { Fault } from '#core/fault.ts';
import { readJson } from '../http/json.ts';

/** The body `{"csr": "…"}`, nothing else in it; the CSR's text. Faults: malformed. */
export function readEnrolmentBody(body: Uint8Array): string {
  const value = readJson(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Fault('malformed', 'the body is not a JSON object');
  }
  for (const name in value) {
    if (name !== 'csr') throw new Fault('malformed', `unknown field ${JSON.stringify(name.slice(0, 64))}`);
  }
  if (!('csr' in value)) throw new Fault('malformed', 'csr is missing', { field: 'csr' });
  if (typeof value.csr !== 'string') throw new Fault('malformed', 'csr is not a string', { field: 'csr' });
  return value.csr;
}
