import { Fault } from '../fault.ts';
import type { Issuer } from '../ports/issuer.ts';

/** In place of an upstream that the configuration no longer has: what it issued is still known, and it issues nothing more. */
export function absentIssuer(name: string): Issuer {
  const detail = `no issuer called ${name} is configured`;
  const refuse = (): Promise<never> => Promise.reject(new Fault('unavailable', detail));
  return { chain: refuse, issue: refuse, health: async () => ({ ok: false, detail }) };
}
