import { Fault } from '../fault.ts';
import type { Issuer } from '../ports/issuer.ts';
import { assembleCertificate } from '../x509/certificate.ts';
import type { GuardedKey } from './guarded-key.ts';

/** Returns the issuer of our own CA, which signs with the CA's key. `chain` starts with the CA certificate, DER. */
export function localIssuer(key: GuardedKey, chain: readonly Uint8Array[]): Issuer {
  return {
    inProcess: key.inProcess,
    chain: async () => chain,
    async issue({ prepared: { tbs, template } }, signal) {
      const { signatureAlgorithm } = template;
      const signature = await key.sign(signatureAlgorithm, tbs, signal);
      return { kind: 'issued', certificate: assembleCertificate(tbs, signatureAlgorithm, signature), chain };
    },
    health: () => key.health(),
  };
}

/**
 * Replaces an upstream CA that has been removed from the configuration: its certificates stay known, and it issues no
 * more.
 */
export function absentIssuer(name: string): Issuer {
  const detail = `no issuer named "${name}" is configured`;
  const refuse = (): Promise<never> => Promise.reject(new Fault('unavailable', detail));
  return { chain: refuse, issue: refuse, health: async () => ({ ok: false, detail }) };
}
