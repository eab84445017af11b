import { Fault } from '../fault.ts';
import type { Issuer } from '../ports/issuer.ts';
import type { KeyStore } from '../ports/keys.ts';
import { assembleCertificate } from '../x509/certificate.ts';

/** Our own CA: signs with a key in `keys`. `chain` starts with the CA certificate, DER. */
export function localIssuer(keys: KeyStore, key: string, chain: readonly Uint8Array[]): Issuer {
  return {
    inProcess: keys.inProcess === true,
    chain: async () => chain,
    async issue({ prepared: { tbs, template } }, signal) {
      const { signatureAlgorithm } = template;
      let signature: Uint8Array;
      try {
        signature = await keys.sign(key, signatureAlgorithm, tbs, signal);
      } catch (error) {
        throw absent(error);
      }
      return { kind: 'issued', certificate: assembleCertificate(tbs, signatureAlgorithm, signature), chain };
    },
    health: () => keys.health(),
  };
}

/** A key that is not here may be at another gateway: that is no answer to who asks for a certificate. */
const absent = (error: unknown): unknown =>
  error instanceof Fault && error.code === 'notFound'
    ? new Fault('unavailable', 'the key of the issuing CA is not at this gateway', { cause: error })
    : error;
