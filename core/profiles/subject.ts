import { tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import { attributeTypeNamed, attributeTypeOf } from '../x509/attribute-type.ts';
import { stringTags } from '../x509/directory-string.ts';
import {
  attribute,
  attributeProblem,
  buildName,
  type Name,
  type NameAttribute,
  type Rdn,
} from '../x509/name.ts';
import { hasHidden, quote } from '../x509/visible.ts';
import { decide } from './decide.ts';
import type { ProfileRules } from './language.ts';
import { isOid } from './problems.ts';
import type { Fields, Tools } from './template.ts';
import { compileValues, type Trace, templateReader, type ValueRule } from './values.ts';

export type Others = 'refuse' | 'drop' | 'keep';

interface SubjectRule {
  /** OID. */
  readonly type: string;
  readonly rule: ValueRule;
}

/** Returns the subject of a certificate. Faults: badCsr. */
type SubjectRules = (requested: Name, from: Fields, trace?: Trace) => Name;

export function compileSubject(written: ProfileRules['subject'], others: Others, tools: Tools): SubjectRules {
  const rules: SubjectRule[] = [];
  const read = templateReader(tools, false);
  for (const [name, rule] of Object.entries(written ?? {})) {
    const field = `subject.${name}`;
    const type = attributeTypeNamed(name)?.oid ?? name;
    if (!isOid(type)) tools.problems.add(field, 'unknown attribute type; write its OID');
    else if (ruleOf(rules, type)) tools.problems.add(field, 'this attribute type occurs twice');
    else
      rules.push({
        type,
        rule: compileValues(
          rule,
          { field, ofRequest: false, most: 1, fits: fitsAttribute(type), read },
          tools,
        ),
      });
  }
  return (requested, from, trace) => applySubject(rules, others, requested, from, trace);
}

const countries: ReadonlySet<string> = new Set(
  ['C', 'jurisdictionCountryName'].map((name) => attributeTypeNamed(name)!.oid),
);

/** Applies the limits of RFC 5280 §A.1 and the countries of ISO 3166-1, and rejects misleading characters. */
const fitsAttribute =
  (type: string) =>
  (value: string): string | undefined => {
    if (hasHidden(value)) return 'has control characters';
    if (countries.has(type) && !/^[a-z]{2}$/i.test(value)) return 'is not a country code of two letters';
    const misfit = attributeProblem(type, value);
    return misfit && `does not fit: ${misfit.detail}`;
  };

function ruleOf(rules: readonly SubjectRule[], type: string): ValueRule | undefined {
  for (const one of rules) if (one.type === type) return one.rule;
  return undefined;
}

function applySubject(
  rules: readonly SubjectRule[],
  others: Others,
  requested: Name,
  from: Fields,
  trace: Trace | undefined,
): Name {
  let dropped: readonly NameAttribute[] = none;
  for (const rdn of requested.rdns) {
    for (const one of rdn) {
      const rule = ruleOf(rules, one.type);
      const kept = rule ? isText(one, rule.field, rule.drop, trace) : keepOther(one, others, trace);
      if (!kept) dropped = [...dropped, one];
    }
  }
  let added: readonly Rdn[] = none;
  for (const { type, rule } of rules) {
    const ruled = attributesOf(requested, type, dropped);
    if (ruled.length === 0 && rule.waits) continue;
    const decision = decide(rule, ruled.map(textOf), from, trace);
    if (!decision) continue;
    for (const n of decision.without) dropped = [...dropped, ruled[n]!];
    for (const value of decision.add) added = [...added, [attribute(type, value)]];
  }
  return rebuild(requested, dropped, added);
}

const none: readonly never[] = [];
const textOf = ({ value }: NameAttribute): string => value;

function attributesOf(name: Name, type: string, dropped: readonly NameAttribute[]): readonly NameAttribute[] {
  let found: readonly NameAttribute[] = none;
  for (const rdn of name.rdns) {
    for (const one of rdn) if (one.type === type && !dropped.includes(one)) found = [...found, one];
  }
  return found;
}

function isText(one: NameAttribute, field: string, drop: boolean, trace?: Trace): boolean {
  if (stringTags.has(one.tag)) return true;
  if (!drop) throw new Fault('badCsr', `${field}: the value is not text`);
  trace?.(field, '', 'a value that is not text is omitted');
  return false;
}

function keepOther(one: NameAttribute, others: Others, trace: Trace | undefined): boolean {
  const field = `subject.${attributeTypeOf(one.type)?.name ?? one.type}`;
  if (others === 'refuse') {
    throw new Fault('badCsr', `${field}: the profile does not allow this attribute`);
  }
  if (others === 'drop') {
    trace?.(field, '', `${quote(one.value)} is omitted: the profile does not allow it`);
    return false;
  }
  isText(one, field, false);
  const wrong = fitsAttribute(one.type)(one.value);
  if (wrong) throw new Fault('badCsr', `${field}: ${quote(one.value)} ${wrong}`);
  trace?.(field, one.value, 'requested; the profile accepts values without a rule');
  return true;
}

/** Keeps the order of the request, and its encoding if RFC 5280 §4.1.2.4 permits that encoding. */
function rebuild(requested: Name, dropped: readonly NameAttribute[], added: readonly Rdn[]): Name {
  if (dropped.length === 0 && added.length === 0 && isWellEncoded(requested)) return requested;
  const kept = requested.rdns
    .map((rdn) =>
      rdn
        .filter((one) => !dropped.includes(one))
        .map((one) => (wellEncoded(one) ? one : attribute(one.type, one.value))),
    )
    .filter((rdn) => rdn.length > 0);
  return buildName([...kept, ...added]);
}

/** An RDN with several attributes is always rebuilt: another string type may change the order of its attributes. */
function isWellEncoded({ rdns }: Name): boolean {
  for (const rdn of rdns) if (rdn.length > 1 || !wellEncoded(rdn[0]!)) return false;
  return true;
}

const printable = /^[A-Za-z0-9 '()+,\-./:=?]*$/;

function wellEncoded(one: NameAttribute): boolean {
  const prescribed = attributeTypeOf(one.type)?.tag ?? tag.utf8String;
  if (one.tag === tag.printableString && prescribed === tag.utf8String) return printable.test(one.value);
  return one.tag === prescribed;
}
