import { demand, type Principal } from '../access/principal.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { sameBytes } from '../der/bytes.ts';
import type { Ports } from '../ports/ports.ts';
import type { IssuingCa, StoredCrl } from '../records/issuing-ca.ts';
import type { Certificate } from '../x509/certificate.ts';

const mostCrls = 1000;

/** A CA, what it is below, and its newest CRL. */
export interface CaPosition {
  readonly record: IssuingCa;
  readonly certificate: Certificate;
  /** The CA of ours that signed it; null for a root, and for one whose issuer is elsewhere. */
  readonly parent: number | null;
  readonly crl: Omit<StoredCrl, 'crl'> | null;
}

/** Every CA with its place among the others. Faults: forbidden. */
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
