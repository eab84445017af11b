import type { Issuer } from '../ports/issuer.ts';
import type { KeyStore } from '../ports/keys.ts';
import { assembleCertificate } from '../x509/certificate.ts';
import { signByCa } from './key-stores.ts';

/** Our own CA: signs with a key in `keys`. `chain` starts with the CA certificate, DER. */
export function localIssuer(keys: KeyStore, key: string, chain: readonly Uint8Array[]): Issuer {
  return {
    inProcess: keys.inProcess === true,
    chain: async () => chain,
    async issue({ prepared: { tbs, template } }, signal) {
      const { signatureAlgorithm } = template;
      const signature = await signByCa(keys, key, signatureAlgorithm, tbs, signal);
      return { kind: 'issued', certificate: assembleCertificate(tbs, signatureAlgorithm, signature), chain };
    },
    health: () => keys.health(),
  };
}
