import type { LevelRules } from '../security/levels.ts';
import type { Evidence, Protocol } from './evidence.ts';

/** Returns why the security level does not allow evidence of this kind over a protocol; undefined when it does. */
export function evidenceShortcoming(
  { level, sharedSecrets }: LevelRules,
  protocol: Protocol,
  evidence: Evidence,
): string | undefined {
  if (evidence.kind === 'mac') {
    const { cmp } = sharedSecrets;
    if (cmp === 'everywhere' || (cmp === 'tls' && evidence.secure)) return undefined;
    const where = cmp === 'tls' ? ' outside TLS' : '';
    return `the security level ${level} does not allow shared secrets${where}: sign the message instead`;
  }
  if (evidence.kind !== 'password' || protocol === 'cmp' || sharedSecrets[protocol]) return undefined;
  return `the security level ${level} does not allow passwords over ${protocol.toUpperCase()}: use a client certificate`;
}
