import { Fault } from '../fault.ts';
import { visible } from '../x509/visible.ts';
import type { Trace } from './values.ts';

/** A rule about an extension that is a list of purposes: key usage and extended key usage. */
interface PurposeRule<P extends string> {
  readonly field: string;
  readonly fixed: readonly P[] | undefined;
  readonly default: readonly P[];
  readonly allowed: readonly P[];
  readonly required: readonly P[];
  readonly forbidden: boolean;
  readonly drop: boolean;
}

interface WrittenPurposes<P> {
  readonly fixed?: readonly P[];
  readonly default?: readonly P[];
  readonly allowed?: readonly P[];
  readonly required?: readonly P[];
  readonly forbidden?: boolean;
  readonly unfit?: 'refuse' | 'drop';
}

/** Compiles the rule; `problem` receives each invalid member. */
export function compilePurposes<P extends string>(
  field: string,
  written: WrittenPurposes<P>,
  problem: (member: string, what: string) => void,
): PurposeRule<P> {
  const { fixed, required = [] } = written;
  const defaults = written.default ?? [];
  const allowed = written.allowed ?? [...new Set([...defaults, ...required])];
  for (const member of ['fixed', 'default', 'allowed', 'required'] as const) {
    if (!written[member]) continue;
    if (written.forbidden) problem(member, 'has no effect beside forbidden');
    else if (fixed && member !== 'fixed') problem(member, 'has no effect beside fixed');
  }
  if (!fixed && !written.forbidden && allowed.length === 0)
    problem('', 'allows nothing: write fixed, default or allowed');
  for (const member of ['default', 'required'] as const) {
    const stray = written[member]?.find((one) => !allowed.includes(one));
    if (stray && !fixed) problem(member, `${stray} is not among the allowed`);
  }
  const short = required.find((one) => !defaults.includes(one));
  if (written.default && short) problem('default', `lacks the required ${short}`);
  return {
    field,
    fixed,
    default: defaults,
    allowed: fixed ?? allowed,
    required,
    forbidden: written.forbidden ?? false,
    drop: written.unfit === 'drop',
  };
}

/** Returns the purposes that the certificate gets, empty for none. Faults: badCsr. */
export function decidePurposes<P extends string>(
  rule: PurposeRule<P>,
  requested: readonly P[],
  trace?: Trace,
): readonly P[] {
  const fits = (one: P): boolean => !rule.forbidden && rule.allowed.includes(one);
  const stray = requested.filter((one) => !fits(one));
  if (stray.length > 0 && !rule.drop) {
    const allowed = rule.forbidden || rule.allowed.length === 0 ? 'none' : rule.allowed.join(', ');
    throw new Fault(
      'badCsr',
      `${rule.field}: ${visible(stray.join(', '))} is not allowed; allowed: ${allowed}`,
    );
  }
  if (stray.length > 0)
    trace?.(rule.field, '', `${visible(stray.join(', '))} is omitted: the profile does not allow it`);
  const kept = requested.filter(fits);
  const chosen = rule.fixed ?? (kept.length > 0 ? kept : rule.default);
  if (rule.forbidden) return [];
  const lacking = rule.required.find((one) => !chosen.includes(one));
  if (lacking) throw new Fault('badCsr', `${rule.field}: the request must contain ${lacking}`);
  const because = rule.fixed
    ? 'fixed by the profile'
    : kept.length > 0
      ? 'requested'
      : 'default of the profile';
  if (chosen.length > 0) trace?.(rule.field, chosen.join(', '), because);
  return chosen;
}
