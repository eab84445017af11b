import { Fault } from '../fault.ts';
import { quote } from '../x509/visible.ts';
import { attempt } from './problems.ts';
import {
  type Fields,
  type Fits,
  fieldValue,
  isTemplateField,
  missingField,
  type TemplateField,
  type Tools,
  templateFieldList,
} from './template.ts';

type Matcher = (text: string) => boolean;

const fieldForm = /\{((?:device|domain|request)\.\w*)\}/g;
const mostCached = 256;

/**
 * Compiles a full-match pattern in the dialect of `Patterns`. `{device.common_name}` and the other fields of templates
 * stand for their literal values. The result tells why a text does not match. Errors in the pattern are added to the
 * problems.
 */
export function compilePattern(
  pattern: string,
  path: string,
  ofRequest: boolean,
  tools: Tools,
): { readonly fits: Fits; readonly constant: boolean } {
  const { patterns, problems } = tools;
  const fields = [...pattern.matchAll(fieldForm)].map(([, field]) => field!);
  const known = fields.filter(isTemplateField);
  if (known.length < fields.length) problems.add(path, `there are only the fields ${templateFieldList}`);
  if (!ofRequest && known.some((field) => field.startsWith('request.'))) {
    problems.add(path, 'rules of the subject cannot take values from the request');
  }
  if (known.length > 0 && hasFieldInside(pattern)) {
    problems.add(path, 'a field stands for itself, not inside brackets, \\Q…\\E or behind a backslash');
  }
  const sample = attempt(() => patterns.compile(pattern.replace(fieldForm, '(?:x)')));
  if (sample instanceof Fault) problems.add(path, sample.detail);
  const mismatch = `does not match the pattern ${quote(pattern)}`;
  if (fields.length === 0) {
    const fits: Fits = (text) => (sample instanceof Fault || !sample(text) ? mismatch : undefined);
    return { fits, constant: true };
  }
  const compiled = new Map<string, Matcher | Fault>();
  const compile = (source: string): Matcher | Fault => {
    let matcher = compiled.get(source);
    if (matcher === undefined) {
      if (compiled.size >= mostCached) compiled.clear();
      matcher = attempt(() => patterns.compile(source));
      compiled.set(source, matcher);
    }
    return matcher;
  };
  const fits: Fits = (text, from) => {
    const missing = known.find((field) => !fieldValue(field, from));
    if (missing) return `does not match the pattern ${quote(pattern)}: ${missingField(missing)}`;
    const matcher = compile(pattern.replace(fieldForm, (_, field) => literal(field, from)));
    return matcher instanceof Fault || !matcher(text) ? mismatch : undefined;
  };
  return { fits, constant: false };
}

/** RE2 reads a backslash before any ASCII punctuation as the literal character. The group keeps the value together. */
const literal = (field: TemplateField, from: Fields): string =>
  `(?:${fieldValue(field, from)!.replace(/[\\^$.*+?()[\]{}|-]/g, '\\$&')})`;

/** Tokens: quotations, escapes, character classes; else single characters. */
const units = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]?|./gs;

/** Returns whether a field occurs where its value would not be taken literally. */
function hasFieldInside(pattern: string): boolean {
  const free = pattern.replace(fieldForm, '\ue000');
  for (const [unit] of free.matchAll(units)) if (unit.length > 1 && unit.includes('\ue000')) return true;
  return false;
}
