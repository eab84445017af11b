import { Fault } from '../fault.ts';
import type { Fields } from './template.ts';
import type { Trace, ValueRule } from './values.ts';
import { quote } from './visible.ts';

interface Decision {
  /** For each requested value, whether the certificate has it. */
  readonly keep: readonly boolean[];
  /** What the certificate has on top. */
  readonly add: readonly string[];
}

const nothing: Decision = { keep: [], add: [] };

/**
 * Applies a rule to the requested values. Deciding about what came out gives the same again: RFC 7030 §4.2.2 renewals depend
 * on it. Faults: badCsr.
 */
export function decide(rule: ValueRule, requested: readonly string[], from: Fields, trace?: Trace): Decision {
  if (requested.length === 0 && !rule.fixed && rule.default.length === 0 && !rule.required) return nothing;
  const missing = rule.fixed ? renderFixed(rule, from) : [];
  let count = 0;
  const keep: boolean[] = [];
  for (const value of requested) {
    const wrong = whatIsUnfit(rule, value, missing, count, from);
    keep.push(wrong === undefined);
    if (wrong === undefined) {
      count++;
      trace?.(rule.field, rule.show(value), rule.fixed ? 'requested, as the profile fixes it' : 'requested');
      continue;
    }
    if (!rule.drop) throw new Fault('badCsr', `${rule.field}: ${quote(rule.show(value))} ${wrong}`);
    trace?.(rule.field, '', `${quote(rule.show(value))} is left out: it ${wrong}`);
  }
  if (rule.fixed) {
    if (trace) for (const value of missing) trace(rule.field, rule.show(value), 'fixed by the profile');
    return { keep, add: missing };
  }
  if (count > 0) return { keep, add: [] };
  const { add, wrong } = defaults(rule, from);
  if (rule.required && add.length === 0) {
    throw new Fault('badCsr', `${rule.field}: the request has to name one${wrong && `; ${wrong}`}`);
  }
  if (trace) {
    for (const value of add) trace(rule.field, rule.show(value), 'default of the profile');
    if (wrong) trace(rule.field, '', wrong);
  }
  return { keep, add };
}

function renderFixed(rule: ValueRule, from: Fields): string[] {
  return rule.fixed!.map((template) => {
    const value = template.render(from);
    if (value === undefined) {
      throw new Fault(
        'badCsr',
        `${rule.field}: the profile fixes ${template.text}, but ${template.missing(from)}`,
      );
    }
    const wrong = template.constant ? undefined : rule.fits(value, from);
    if (wrong) throw new Fault('badCsr', `${rule.field}: the fixed value ${quote(value)} ${wrong}`);
    return value;
  });
}

/** `missing`: the fixed values not met so far; one that is met goes out of it. */
function whatIsUnfit(
  rule: ValueRule,
  value: string,
  missing: string[],
  count: number,
  from: Fields,
): string | undefined {
  if (rule.forbidden) return 'is forbidden by the profile';
  if (rule.fixed) {
    const folded = rule.fold(value);
    const at = missing.findIndex((one) => rule.fold(one) === folded);
    if (at >= 0) missing.splice(at, 1);
    return at >= 0 ? undefined : `does not fit: the profile fixes ${fixedValues(rule, from)}`;
  }
  const wrong = rule.fits(value, from) ?? whatIsNotAllowed(rule, value, from);
  if (wrong) return wrong;
  return count < rule.most ? undefined : `is one too many: the profile allows ${rule.most}`;
}

const fixedValues = (rule: ValueRule, from: Fields): string =>
  rule.fixed!.map((template) => quote(rule.show(template.render(from) ?? ''))).join(', ');

const mostShown = 5;

function whatIsNotAllowed(rule: ValueRule, value: string, from: Fields): string | undefined {
  if (!rule.allowed) return undefined;
  const folded = rule.fold(value);
  const allowed = rule.allowed.flatMap((template) => template.render(from) ?? []);
  if (allowed.some((one) => rule.fold(one) === folded)) return undefined;
  if (allowed.length === 0) return `is not allowed: ${rule.allowed[0]?.missing(from) ?? 'nothing is'}`;
  const more = allowed.length > mostShown ? ', …' : '';
  return `is not allowed; allowed: ${allowed
    .slice(0, mostShown)
    .map((one) => quote(rule.show(one)))
    .join(', ')}${more}`;
}

/** The defaults that fit, and why one does not. */
function defaults(rule: ValueRule, from: Fields): { add: readonly string[]; wrong: string } {
  const add: string[] = [];
  let wrong = '';
  for (const template of rule.default) {
    const value = template.render(from);
    const why =
      value === undefined
        ? template.missing(from)
        : prefixed(rule.show(value), rule.fits(value, from) ?? whatIsNotAllowed(rule, value, from));
    if (value !== undefined && why === undefined) add.push(value);
    else wrong ||= `the default ${template.text} gives none: ${why}`;
  }
  return { add, wrong };
}

const prefixed = (value: string, wrong: string | undefined): string | undefined =>
  wrong && `${quote(value)} ${wrong}`;
