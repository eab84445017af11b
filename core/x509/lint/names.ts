import { tag } from '../../der/tag.ts';
import { attributeTypeOf } from '../attribute-type.ts';
import { formatGeneralName, type GeneralName } from '../general-name.ts';
import { isSorted, type NameAttribute } from '../name.ts';
import { Budget } from '../path/budget.ts';
import { Refusal } from '../path/failure.ts';
import { checkNames } from '../path/name-constraints.ts';
import type { Rule } from './draft.ts';

const printable = /^[A-Za-z0-9 '()+,\-./:=?]*$/;
const twoLetters = /^[A-Za-z]{2}$/;
const control = /[\x00-\x1f\x7f-\x9f]/;
/** C and jurisdictionCountryName. */
const countries: ReadonlySet<string> = new Set(['2.5.4.6', '1.3.6.1.4.1.311.60.2.1.3']);

/** Returns a rule that every attribute of the subject must satisfy. */
const ofAttributes = (section: string, text: string, holds: (attribute: NameAttribute) => boolean): Rule => ({
  section,
  finding: ({ tbs }) => {
    for (const rdn of tbs.subject.rdns) {
      for (const attribute of rdn) {
        if (!holds(attribute)) return `${attributeTypeOf(attribute.type)?.name ?? attribute.type}: ${text}`;
      }
    }
    return undefined;
  },
});

/** Returns a rule that every alternative name must satisfy. */
const ofNames = (text: string, holds: (name: GeneralName) => boolean): Rule => ({
  section: 'RFC 5280 §4.2.1.6',
  finding: ({ facts }) => {
    for (const name of facts.altNames) if (!holds(name)) return `${formatGeneralName(name)}: ${text}`;
    return undefined;
  },
});

const longestHost = 253;
const labelCharacters = /^[A-Za-z0-9-]+$/;
const digits = /^\d+$/;

/**
 * Checks the preferred name syntax of RFC 1034 §3.5 with RFC 1123 §2.1. A text that ends in a number is an IP address.
 */
function isHostName(text: string): boolean {
  const labels = text.split('.');
  return text.length <= longestHost && labels.every(isLabel) && !digits.test(labels[labels.length - 1]!);
}

const isLabel = (label: string): boolean =>
  label.length <= 63 && labelCharacters.test(label) && !label.startsWith('-') && !label.endsWith('-');

/** A wildcard must be the whole first label (RFC 9525 §6.3) and not directly below the root. */
const isDnsName = (text: string): boolean =>
  text.startsWith('*.') ? text.includes('.', 2) && isHostName(text.slice(2)) : isHostName(text);

const localPart = /^[\x21-\x7e]{1,64}$/;

function isMailbox(text: string): boolean {
  const at = text.lastIndexOf('@');
  return localPart.test(text.slice(0, Math.max(at, 0))) && isHostName(text.slice(at + 1));
}

const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/;
/** RFC 3986 §2. */
const uriCharacters = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/;

function isAbsoluteUri(text: string): boolean {
  const rest = text.slice(scheme.exec(text)?.[0].length ?? text.length);
  const withoutHost = rest.startsWith('//') && (rest.length === 2 || '/?#'.includes(rest[2]!));
  return uriCharacters.test(rest) && (!withoutHost || text.toLowerCase().startsWith('file:'));
}

const isUnsorted = (name: GeneralName): boolean => name.kind === 'directory' && !isSorted(name.value);

/** Rules about the attributes of the subject and about the alternative names. */
export const nameRules: readonly Rule[] = [
  ofAttributes('RFC 5280 §A.1', 'the value is too long or too short', ({ type, value }) => {
    const { shortest, longest } = attributeTypeOf(type) ?? { shortest: 1, longest: 32768 };
    // Characters, not UTF-16 units; a text short enough in units needs no counting.
    const length = value.length <= longest ? value.length : [...value].length;
    return length >= shortest && length <= longest;
  }),
  ofAttributes(
    'RFC 5280 §4.1.2.4',
    'the string type must be the prescribed one or, if there is none, UTF8String or PrintableString',
    ({ type, tag: actual }) => {
      const prescribed = attributeTypeOf(type)?.tag ?? tag.utf8String;
      return actual === prescribed || (prescribed === tag.utf8String && actual === tag.printableString);
    },
  ),
  ofAttributes(
    'X.680 §41.4',
    'a PrintableString contains characters that it must not contain',
    ({ tag: actual, value }) => actual !== tag.printableString || printable.test(value),
  ),
  ofAttributes(
    'RFC 4518 §2.2',
    'the value contains control characters, which comparisons ignore',
    ({ value }) => !control.test(value),
  ),
  {
    section: 'X.690 §11.6',
    finding: ({ facts }) => facts.names.some(isUnsorted) && 'the attributes of an RDN are not sorted',
  },
  ofAttributes(
    'ISO 3166-1',
    'a country code must have two letters',
    ({ type, value }) => !countries.has(type) || twoLetters.test(value),
  ),
  ofNames('not a host name', (name) => name.kind !== 'dns' || isDnsName(name.value)),
  ofNames('not a mailbox', (name) => name.kind !== 'email' || isMailbox(name.value)),
  ofNames('not an absolute URI', (name) => name.kind !== 'uri' || isAbsoluteUri(name.value)),
  ofNames('must have 4 or 16 octets', (name) => name.kind !== 'ip' || [4, 16].includes(name.value.length)),
  ofNames('an empty name', (name) => name.kind !== 'directory' || name.value.rdns.length > 0),
  {
    section: 'RFC 5280 §4.2.1.10',
    finding: ({ facts, issuer }) => {
      if (!issuer?.nameConstraints.length || (facts.selfIssued && facts.basicConstraints?.ca))
        return undefined;
      try {
        checkNames(facts.names, issuer.nameConstraints, new Budget());
        return undefined;
      } catch (error) {
        if (error instanceof Refusal) return error.message;
        throw error;
      }
    },
  },
];
