import { Fault } from '../fault.ts';
import { quote } from '../x509/visible.ts';
import type { Fields, Template } from './template.ts';
import type { Trace, ValueRule } from './values.ts';

interface Decision {
  /** The indexes of the requested values that the certificate does not get. */
  readonly without: readonly number[];
  /** The values that the certificate gets in addition. */
  readonly add: readonly string[];
}

const none: readonly never[] = [];

/**
 * Applies a rule to the requested values; undefined: the certificate gets exactly these. Applying the rule to its own
 * outcome yields the same outcome, because renewals depend on it (RFC 7030 §4.2.2). Faults: badCsr.
 */
export function decide(
  rule: ValueRule,
  requested: readonly string[],
  from: Fields,
  trace?: Trace,
): Decision | undefined {
  if (requested.length === 0 && rule.waits) return undefined;
  const missing = rule.fixed ? renderFixed(rule.fixed, rule, from) : undefined;
  let without: readonly number[] = none;
  for (let n = 0; n < requested.length; n++) {
    const value = requested[n]!;
    const count = n - without.length;
    const wrong = attributeProblem(rule, value, missing, count, from);
    if (wrong === undefined) {
      trace?.(rule.field, rule.show(value), rule.fixed ? 'requested, and fixed by the profile' : 'requested');
      continue;
    }
    if (!rule.drop) throw new Fault('badCsr', `${rule.field}: ${quote(rule.show(value))} ${wrong}`);
    trace?.(rule.field, '', `${quote(rule.show(value))} is omitted: it ${wrong}`);
    without = [...without, n];
  }
  if (missing) {
    if (trace) for (const value of missing) trace(rule.field, rule.show(value), 'fixed by the profile');
    return decision(without, missing);
  }
  if (requested.length > without.length) return decision(without, none);
  const { add, wrong } = defaults(rule, from);
  if (rule.required && add.length === 0) {
    throw new Fault('badCsr', `${rule.field}: the request must contain a value${wrong && `; ${wrong}`}`);
  }
  if (trace) {
    for (const value of add) trace(rule.field, rule.show(value), 'default of the profile');
    if (wrong) trace(rule.field, '', wrong);
  }
  return decision(without, add);
}

const decision = (without: readonly number[], add: readonly string[]): Decision | undefined =>
  without.length + add.length === 0 ? undefined : { without, add };

function renderFixed(fixed: readonly Template[], rule: ValueRule, from: Fields): string[] {
  const values: string[] = [];
  for (const template of fixed) {
    const value = template.render(from);
    if (value === undefined) {
      throw new Fault(
        'badCsr',
        `${rule.field}: the profile fixes ${template.text}, but ${template.missing(from)}`,
      );
    }
    const wrong = template.constant ? undefined : rule.fits(value, from);
    if (wrong) throw new Fault('badCsr', `${rule.field}: the fixed value ${quote(value)} ${wrong}`);
    if (adds(value, values, rule)) values.push(value);
  }
  return values;
}

/** Returns whether none of these values equals the value, for rules where that matters. */
const adds = (value: string, values: readonly string[], rule: ValueRule): boolean =>
  !rule.distinct || values.length === 0 || placeOf(value, values, rule) < 0;

function placeOf(value: string, values: readonly string[], { fold }: ValueRule): number {
  const folded = fold(value);
  for (let at = 0; at < values.length; at++) if (fold(values[at]!) === folded) return at;
  return -1;
}

/** Returns why a value does not fit. `missing`: the fixed values not met so far; a met value is removed from it. */
function attributeProblem(
  rule: ValueRule,
  value: string,
  missing: string[] | undefined,
  count: number,
  from: Fields,
): string | undefined {
  if (rule.forbidden) return 'is forbidden by the profile';
  if (missing) {
    return take(missing, value, rule)
      ? undefined
      : `is not allowed: the profile fixes ${fixedValues(rule, from)}`;
  }
  const wrong = rule.fits(value, from) ?? whatIsNotAllowed(rule, value, from);
  if (wrong) return wrong;
  return count < rule.most ? undefined : `exceeds the limit: the profile allows at most ${rule.most}`;
}

/** Removes the value from the list, and returns whether it was there. */
function take(values: string[], value: string, rule: ValueRule): boolean {
  const at = placeOf(value, values, rule);
  if (at < 0) return false;
  values.splice(at, 1);
  return true;
}

const fixedValues = (rule: ValueRule, from: Fields): string =>
  rule.fixed!.map((template) => quote(rule.show(template.render(from) ?? ''))).join(', ');

const mostShown = 5;

function whatIsNotAllowed(rule: ValueRule, value: string, from: Fields): string | undefined {
  if (!rule.allowed) return undefined;
  const folded = rule.fold(value);
  const allowed = rule.allowed.flatMap((template) => template.render(from) ?? []);
  if (allowed.some((one) => rule.fold(one) === folded)) return undefined;
  if (allowed.length === 0)
    return `is not allowed: ${rule.allowed[0]?.missing(from) ?? 'the profile allows no value'}`;
  const more = allowed.length > mostShown ? ', …' : '';
  return `is not allowed; allowed: ${allowed
    .slice(0, mostShown)
    .map((one) => quote(rule.show(one)))
    .join(', ')}${more}`;
}

/** Returns the defaults that fit, and why one of them does not. */
function defaults(rule: ValueRule, from: Fields): { add: readonly string[]; wrong: string } {
  const add: string[] = [];
  let wrong = '';
  for (const template of rule.default) {
    const value = template.render(from);
    const why =
      value === undefined
        ? template.missing(from)
        : prefixed(rule.show(value), rule.fits(value, from) ?? whatIsNotAllowed(rule, value, from));
    if (value !== undefined && why === undefined) {
      if (adds(value, add, rule)) add.push(value);
    } else wrong ||= `the default ${template.text} gives none: ${why}`;
  }
  return { add, wrong };
}

const prefixed = (value: string, wrong: string | undefined): string | undefined =>
  wrong && `${quote(value)} ${wrong}`;
