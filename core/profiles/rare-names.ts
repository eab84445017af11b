import { der } from '../der/builder.ts';
import { fromHex, hex } from '../der/bytes.ts';
import { Fault } from '../fault.ts';
import { type GeneralName, parseGeneralName } from '../x509/general-name.ts';
import { formatDistinguishedName, parseDistinguishedName } from '../x509/name.ts';
import { hasHidden } from '../x509/visible.ts';
import { textOf, valueProblem } from './custom.ts';
import { attempt, isOid } from './problems.ts';
import type { Template } from './template.ts';

/** A kind of alternative name as rules see it: as text in the form of `formatGeneralName`, without its prefix. */
interface RareKind {
  /** Returns why a text is not such a name, or undefined. */
  readonly fits: (text: string) => string | undefined;
  readonly fold: (text: string) => string;
  /** Returns the text for a pattern; undefined for a value that is not text. */
  readonly text: (text: string) => string | undefined;
  readonly show: (text: string) => string;
  /** Characters that field values must not bring into a composed name. */
  readonly delimiters: RegExp;
  /** Converts a written value to the form of requested values. */
  readonly written: (template: Template) => Template;
  readonly made: (text: string) => GeneralName;
}

const itself = <T>(value: T): T => value;

/** RFC 4514. */
const directory: RareKind = {
  fits: (text) =>
    text === '' || hasHidden(text) || canonical(text) === undefined
      ? 'is not a valid directory name'
      : undefined,
  // RFC 5280 §7.1
  fold: (text) => (canonical(text) ?? text).toLowerCase(),
  text: itself,
  show: itself,
  delimiters: /[,+=<>;"#\\]/,
  written: itself,
  made: (text) => parseGeneralName(`DirName:${text}`),
};

function canonical(text: string): string | undefined {
  const name = attempt(() => parseDistinguishedName(text));
  return name instanceof Fault ? undefined : formatDistinguishedName(name);
}

/** An OID. */
const registeredId: RareKind = {
  fits: (text) => (isOid(text) ? undefined : 'is not a valid registered ID'),
  fold: itself,
  text: itself,
  show: itself,
  delimiters: /\./,
  written: itself,
  made: (text) => parseGeneralName(`RID:${text}`),
};

/** The type, `;`, and `#` with the DER of the value in hexadecimal; written with the text of a UTF8String too. */
const otherName = (types: readonly string[]): RareKind => ({
  fits(text) {
    const { type, value } = parts(text);
    if (!types.includes(type)) return 'is of a type that the profile does not allow';
    const encoded = fromHex(value);
    const wrong = encoded ? valueProblem(encoded) : 'is not hexadecimal';
    if (wrong) return wrong;
    return hasHidden(textOf(value) ?? '') ? 'has control characters' : undefined;
  },
  fold: (text) => text.toLowerCase(),
  text: (text) => textOf(parts(text).value),
  show(text) {
    const { type, value } = parts(text);
    const readable = fromHex(value) && textOf(value);
    return readable === undefined ? text : `${type};${readable}`;
  },
  delimiters: /[;#]/,
  written: (template) => ({
    ...template,
    render(from) {
      const text = template.render(from);
      const at = text?.indexOf(';') ?? -1;
      if (text === undefined || at < 0 || text[at + 1] === '#') return text;
      const value = der((b) => b.string(text.slice(at + 1)));
      return `${text.slice(0, at)};#${hex(value).toLowerCase()}`;
    },
  }),
  made: (text) => parseGeneralName(`otherName:${text}`),
});

function parts(text: string): { readonly type: string; readonly value: string } {
  const at = text.indexOf(';#');
  return at < 0 ? { type: text, value: '' } : { type: text.slice(0, at), value: text.slice(at + 2) };
}

/** `types`: the OIDs of the other names in the profile. */
export const rareKinds = (types: readonly string[]) => ({
  directory,
  registeredId,
  otherName: otherName(types),
});
