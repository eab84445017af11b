import { der } from '../der/builder.ts';
import { fromHex, hex } from '../der/bytes.ts';
import { readDer } from '../der/reader.ts';
import { Fault } from '../fault.ts';
import { readString, stringTags } from '../x509/directory-string.ts';
import { type Extension, shared } from '../x509/extension.ts';
import { hasHidden } from '../x509/visible.ts';
import { decide } from './decide.ts';
import type { ProfileRules } from './language.ts';
import { attempt, isOid } from './problems.ts';
import { constantTemplate, type Fields, noFields, type Template, type Tools } from './template.ts';
import { compileValues, type Trace, templateReader } from './values.ts';

type Written = NonNullable<NonNullable<ProfileRules['extensions']>['custom']>[string];
type WrittenValue = NonNullable<Written['fixed']>;

/** Decides about one extension; undefined if the certificate does not get it. `requested`: its value in the request. */
export type CustomRules = (
  requested: Uint8Array | undefined,
  from: Fields,
  trace?: Trace,
) => Extension | undefined;

const longestValue = 4096;

/** Values are DER; the rules see them as hexadecimal. */
export function compileCustom(oid: string, written: Written, tools: Tools): CustomRules {
  const { critical = false, ...rest } = written;
  const field = `extensions.custom.${oid}`;
  if (!isOid(oid)) tools.problems.add(field, 'is not an OID');
  const rule = compileValues<WrittenValue>(
    rest,
    {
      field,
      ofRequest: true,
      most: 1,
      fits,
      text: textOf,
      show,
      read: reader(tools),
    },
    tools,
  );
  const constant = rule.fixed?.[0]?.constant ? decoded(rule.fixed[0]) : undefined;
  const encoded = constant && isOid(oid) ? shared({ oid, critical, value: constant }) : undefined;
  return (requested, from, trace) => {
    if (encoded && !requested && !trace) return encoded;
    const decision = decide(rule, requested ? [hex(requested)] : [], from, trace);
    if (requested && !decision?.without.includes(0)) return { oid, critical, value: requested };
    const value = decision?.add[0];
    return value === undefined ? undefined : { oid, critical, value: fromHex(value)! };
  };
}

const decoded = (constant: Template): Uint8Array => fromHex(constant.render(noFields)!)!;

function reader(tools: Tools) {
  const readTemplate = templateReader(tools, true);
  return (written: WrittenValue, path: string): Template | undefined => {
    if (Object.keys(written).length !== 1) {
      tools.problems.add(path, 'needs one of hex, base64 and text');
      return undefined;
    }
    if (written.text !== undefined) {
      const template = readTemplate(written.text, `${path}.text`);
      return template && asUtf8String(template);
    }
    const value = written.hex !== undefined ? fromHex(written.hex) : fromBase64(written.base64!);
    if (value) return constantTemplate(hex(value));
    tools.problems.add(path, written.hex !== undefined ? 'is not hexadecimal' : 'is not base64');
    return undefined;
  };
}

function fromBase64(text: string): Uint8Array | undefined {
  const value = Buffer.from(text, 'base64');
  return value.toString('base64') === text ? value : undefined;
}

const asUtf8String = (template: Template): Template => ({
  ...template,
  render: (from) => {
    const text = template.render(from);
    return text === undefined ? undefined : hex(der((b) => b.string(text)));
  },
});

/** Returns why a value is not one DER element without hidden characters in its strings, or undefined. */
function fits(value: string): string | undefined {
  const wrong = valueProblem(fromHex(value)!);
  if (wrong) return wrong;
  const text = textOf(value);
  return text !== undefined && hasHidden(text) ? 'has control characters' : undefined;
}

/** Returns why these octets are no valid extension value, or undefined. */
export function valueProblem(value: Uint8Array): string | undefined {
  if (value.length > longestValue) return `has more than ${longestValue} octets`;
  const element = attempt(() => readDer(value, (r) => r.element()));
  return element instanceof Fault ? 'is not one DER element' : undefined;
}

/** Returns the text of a DER string, given as hexadecimal. */
export function textOf(value: string): string | undefined {
  const encoded = fromHex(value)!;
  const identifier = encoded[0] ?? 0;
  if (!stringTags.has(identifier)) return undefined;
  const text = attempt(() => readDer(encoded, (r) => readString(r, identifier)));
  return text instanceof Fault ? undefined : text;
}

const show = (value: string): string => textOf(value) ?? `#${value.toLowerCase()}`;
