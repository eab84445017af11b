import { Fault } from '../fault.ts';
import type { KeyType } from '../x509/algorithm.ts';
import type { ProfileRules } from './language.ts';
import type { Tools } from './template.ts';
import type { Trace } from './values.ts';

/** Checks the key. Faults: badAlgorithm for a key that the profile does not allow. */
type KeyRules = (key: KeyType, trace?: Trace) => void;

const leastRsaBits = 2048;

export function compileKeys(written: ProfileRules['keys'], { problems }: Tools): KeyRules {
  const { allowed, minimumRsaBits: minimum = leastRsaBits } = written ?? {};
  const rsa = !allowed || allowed.some((kind) => kind.startsWith('rsa'));
  if (written?.minimumRsaBits !== undefined && !rsa) {
    problems.add('keys.minimumRsaBits', 'has no effect, because no RSA key is allowed');
  }
  for (const kind of allowed ?? []) {
    if (kind.startsWith('rsa-') && Number(kind.slice(4)) < minimum) {
      problems.add('keys.allowed', `${kind} is below the ${minimum} bits that an RSA key needs`);
    }
  }
  return (key, trace) => {
    const bits = key.startsWith('rsa-') ? Number(key.slice(4)) : undefined;
    if (bits !== undefined && bits < minimum && rsa) {
      throw new Fault(
        'badAlgorithm',
        `keys: ${key} is not allowed: RSA keys must have at least ${minimum} bits`,
      );
    }
    if (allowed && !allowed.includes(key) && !(bits !== undefined && allowed.includes('rsa'))) {
      throw new Fault('badAlgorithm', `keys: ${key} is not allowed; allowed: ${allowed.join(', ')}`);
    }
    trace?.('keys', key, allowed ? 'allowed by the profile' : 'the profile allows every type of key');
  };
}
