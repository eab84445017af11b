import { demand, type Principal } from '../access/principal.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { sameBytes } from '../der/bytes.ts';
import type { Ports } from '../ports/ports.ts';
import type { IssuingCa, StoredCrl } from '../records/issuing-ca.ts';
import type { Certificate } from '../x509/certificate.ts';

const mostCrls = 1000;

/** A CA with its parent and its newest CRL. */
export interface CaPosition {
  readonly record: IssuingCa;
  readonly certificate: Certificate;
  /** Our CA that signed it; null for a root, and for a CA with an external issuer. */
  readonly parent: number | null;
  readonly crl: Omit<StoredCrl, 'crl'> | null;
}

/** Returns every CA with its place in the hierarchy. Faults: forbidden. */
export async function caHierarchy(
  context: Pick<Ports, 'store'> & WithConfiguration,
  principal: Principal,
): Promise<readonly CaPosition[]> {
  demand(principal, 'cas.read');
  const { cas } = await context.configuration.current();
  const { records } = await context.store.listWithout('crl', ['crl'], { limit: mostCrls });
  const crls = new Map(records.map((record) => [record.ca, record]));
  return cas.map(({ record, certificate }) => {
    const [issuer] = record.chain;
    const parent = issuer && cas.find((other) => sameBytes(other.record.certificate, issuer));
    return { record, certificate, parent: parent?.record.id ?? null, crl: crls.get(record.id) ?? null };
  });
}
