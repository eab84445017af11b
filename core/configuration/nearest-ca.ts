import { Fault } from '../fault.ts';
import { hasExpired } from '../x509/validity.ts';
import type { Configuration, LoadedCa } from './configuration.ts';

/**
 * What the service needs for itself, a CA signs whose key is here, as that cannot wait for an upstream: the domain's own, or else
 * the newest active one, an issuing CA rather than a root. Faults: unavailable.
 */
export function nearestCa({ cas }: Pick<Configuration, 'cas'>, ca: LoadedCa, now: number): LoadedCa {
  if (ca.record.key) return ca;
  const fit = cas
    .filter(
      ({ record, certificate }) => record.key && record.isActive && !hasExpired(certificate.notAfter, now),
    )
    .toSorted((a, b) => Number(isRoot(a)) - Number(isRoot(b)) || b.record.id - a.record.id);
  const [found] = fit;
  if (!found) throw new Fault('unavailable', 'there is no active CA whose key is here');
  return found;
}

const isRoot = ({ record }: LoadedCa): boolean => record.chain.length === 0;
