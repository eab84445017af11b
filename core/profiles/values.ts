import { quote } from '../x509/visible.ts';
import { compilePattern } from './pattern.ts';
import type { Problems } from './problems.ts';
import { type Fits, noFields, parseTemplate, type Template, type Tools } from './template.ts';

/** Receives each field with its value and the reason, if an explanation was requested. */
export type Trace = (field: string, value: string, because: string) => void;

/** A written rule in a profile, for attributes, names and custom extensions. */
interface WrittenRule<T> {
  readonly fixed?: T | readonly T[];
  readonly default?: T | readonly T[];
  readonly allowed?: readonly T[];
  readonly pattern?: string;
  readonly required?: boolean;
  readonly forbidden?: boolean;
  readonly most?: number;
  readonly unfit?: 'refuse' | 'drop';
}

interface Kind<T> {
  /** The field in messages and in the profile: `subject.CN`. */
  readonly field: string;
  /** Whether its templates may use fields of the request. */
  readonly ofRequest: boolean;
  /** The maximum number of values if the rule sets none. */
  readonly most: number;
  /** Whether duplicates are removed. */
  readonly distinct?: boolean;
  readonly fits: Fits;
  /** Returns the text for the pattern; undefined for a value that is not text. Default: the value. */
  readonly text?: (value: string) => string | undefined;
  /** Returns the form for messages. Default: the value. */
  readonly show?: (value: string) => string;
  /** Returns the form for comparison. Default: the value. */
  readonly fold?: (value: string) => string;
  /** Parses a written value; after an error, reports it and returns undefined. */
  readonly read: (written: T, path: string) => Template | undefined;
}

export interface ValueRule {
  readonly field: string;
  readonly fixed: readonly Template[] | undefined;
  readonly default: readonly Template[];
  readonly allowed: readonly Template[] | undefined;
  readonly required: boolean;
  readonly forbidden: boolean;
  readonly most: number;
  readonly distinct: boolean;
  readonly drop: boolean;
  /** The rule has no effect if nothing is requested. */
  readonly waits: boolean;
  readonly fits: Fits;
  readonly show: (value: string) => string;
  readonly fold: (value: string) => string;
}

const itself = (value: string): string => value;

export function compileValues<T>(written: WrittenRule<T>, kind: Kind<T>, tools: Tools): ValueRule {
  const { field } = kind;
  const { problems } = tools;
  const readAll = (member: 'fixed' | 'default' | 'allowed'): Template[] | undefined => {
    const values = written[member];
    if (values === undefined) return undefined;
    const list = Array.isArray(values) ? (values as readonly T[]) : [values as T];
    return list.flatMap((value) => kind.read(value, `${field}.${member}`) ?? []);
  };
  const fixed = readAll('fixed');
  const defaults = readAll('default') ?? [];
  const required = written.required ?? false;
  const pattern =
    written.pattern === undefined
      ? undefined
      : compilePattern(written.pattern, `${field}.pattern`, kind.ofRequest, tools);
  const fits = pattern ? both(kind, pattern.fits) : kind.fits;
  const rule: ValueRule = {
    field,
    fixed,
    default: defaults,
    allowed: readAll('allowed'),
    required,
    forbidden: written.forbidden ?? false,
    most: written.most ?? Math.max(kind.most, defaults.length),
    distinct: kind.distinct === true,
    drop: written.unfit === 'drop',
    waits: !fixed && defaults.length === 0 && !required,
    fits,
    show: kind.show ?? itself,
    fold: kind.fold ?? itself,
  };
  // A pattern with fields can only be checked once the fields have values.
  checkRule(written, rule, pattern?.constant === false ? kind.fits : fits, problems);
  return rule;
}

const both =
  ({ fits, text }: Pick<Kind<never>, 'fits' | 'text'>, matches: Fits): Fits =>
  (value, from) => {
    const wrong = fits(value, from);
    if (wrong) return wrong;
    const readable = text ? text(value) : value;
    return readable === undefined ? 'is not text, so the pattern cannot match' : matches(readable, from);
  };

/** Reports members that contradict each other, and values that can never fit. */
function checkRule<T>(written: WrittenRule<T>, rule: ValueRule, fits: Fits, problems: Problems): void {
  const { field } = rule;
  for (const [one, excluded] of [
    ['forbidden', ['fixed', 'default', 'allowed', 'pattern', 'required', 'most']],
    ['fixed', ['default', 'allowed', 'most']],
  ] as const) {
    if (!written[one]) continue;
    for (const other of excluded) {
      if (written[other]) problems.add(`${field}.${other}`, `has no effect beside ${one}`);
    }
  }
  if (rule.default.length > rule.most)
    problems.add(`${field}.default`, `has more values than the ${rule.most} allowed`);
  const allowed = rule.allowed?.every((value) => value.constant)
    ? rule.allowed.map((value) => rule.fold(constantOf(value)))
    : undefined;
  for (const member of ['fixed', 'default', 'allowed'] as const) {
    for (const template of rule[member] ?? []) {
      if (!template.constant) continue;
      const value = constantOf(template);
      const stray =
        member === 'default' && allowed && !allowed.includes(rule.fold(value))
          ? 'is not among the allowed'
          : undefined;
      const wrong = fits(value, noFields) ?? stray;
      if (wrong) problems.add(`${field}.${member}`, `${quote(rule.show(value))} ${wrong}`);
    }
  }
}

const constantOf = (template: Template): string => template.render(noFields) ?? '';

/** Parses a written template. Subject rules cannot use fields of the request, because they build the subject. */
export function templateReader({ problems }: Tools, ofRequest: boolean, delimiters?: RegExp) {
  return (written: string, path: string): Template | undefined => {
    const template = parseTemplate(written, delimiters);
    if (typeof template === 'string') {
      problems.add(path, template);
      return undefined;
    }
    if (template.ofRequest && !ofRequest) {
      problems.add(path, 'rules of the subject cannot take values from the request');
      return undefined;
    }
    return template;
  };
}
