import { dateTime, messages, moment } from '../../language.ts';
import type { Fact } from '../display/facts.tsx';
import { Code, Text } from '../display/text.tsx';
import { memberAt, membersOf, type Rules, textsOf } from './rules.ts';

export const m = messages(
  {
    always: 'always {values}',
    anyKey: 'any kind',
    asked: 'as requested',
    atLeastOneOf: 'one of these is required: {values}',
    atMost: { one: 'at most {n} value', other: 'at most {n} values' },
    basic: 'CA certificate',
    custom: 'Other extensions',
    days: { one: '{n} day', other: '{n} days' },
    description: 'Description',
    dropped: 'other requested values are omitted',
    extended: 'Purposes (extended key usage)',
    fallback: 'if none is requested: {values}',
    fitting: 'matching {pattern}',
    forbidden: 'never',
    hours: { one: '{n} hour', other: '{n} hours' },
    isCa: 'yes',
    isCaOver: { one: 'yes, with at most {n} CA below it', other: 'yes, with at most {n} CAs below it' },
    isNoCa: 'no',
    keep: 'are kept',
    keys: 'Keys',
    keyUsage: 'Key usage',
    minutes: { one: '{n} minute', other: '{n} minutes' },
    months: { one: '{n} month', other: '{n} months' },
    names: 'Alternative names',
    never: 'until the CA expires',
    notStated: 'not stated',
    ofThese: 'as requested, of {values}',
    otherExtensions: 'other extensions',
    otherNames: 'other alternative names',
    others: 'Everything else',
    otherSubject: 'other subject attributes',
    policies: 'Policies',
    published: 'URLs of the CA',
    publishedCrl: 'CRL',
    publishedIssuer: 'CA certificate and OCSP responder',
    refuse: 'are refused',
    drop: 'are left out',
    required: 'required',
    requiredOf: 'required: {values}',
    rsaFrom: 'RSA with at least {bits} bits',
    seconds: { one: '{n} second', other: '{n} seconds' },
    subject: 'Subject',
    until: 'until {date}',
    validity: 'Validity',
    weeks: { one: '{n} week', other: '{n} weeks' },
    years: { one: '{n} year', other: '{n} years' },
  },
  {
    always: 'immer {values}',
    anyKey: 'jede Art',
    asked: 'wie beantragt',
    atLeastOneOf: 'eines davon ist erforderlich: {values}',
    atMost: { one: 'höchstens {n} Wert', other: 'höchstens {n} Werte' },
    basic: 'CA-Zertifikat',
    custom: 'Weitere Erweiterungen',
    days: { one: '{n} Tag', other: '{n} Tage' },
    description: 'Beschreibung',
    dropped: 'andere beantragte Werte entfallen',
    extended: 'Zwecke (extended key usage)',
    fallback: 'wenn keiner beantragt wird: {values}',
    fitting: 'passend zu {pattern}',
    forbidden: 'nie',
    hours: { one: '{n} Stunde', other: '{n} Stunden' },
    isCa: 'ja',
    isCaOver: {
      one: 'ja, mit höchstens {n} CA darunter',
      other: 'ja, mit höchstens {n} CAs darunter',
    },
    isNoCa: 'nein',
    keep: 'bleiben',
    keys: 'Schlüssel',
    keyUsage: 'Schlüsselverwendung',
    minutes: { one: '{n} Minute', other: '{n} Minuten' },
    months: { one: '{n} Monat', other: '{n} Monate' },
    names: 'Alternative Namen',
    never: 'bis zum Ablauf der CA',
    notStated: 'nicht angegeben',
    ofThese: 'wie beantragt, aus {values}',
    otherExtensions: 'weitere Erweiterungen',
    otherNames: 'weitere alternative Namen',
    others: 'Alles andere',
    otherSubject: 'weitere Attribute des Inhabers',
    policies: 'Richtlinien',
    published: 'Adressen der CA',
    publishedCrl: 'Sperrliste',
    publishedIssuer: 'CA-Zertifikat und OCSP-Responder',
    refuse: 'werden abgelehnt',
    drop: 'werden weggelassen',
    required: 'erforderlich',
    requiredOf: 'erforderlich: {values}',
    rsaFrom: 'RSA mit mindestens {bits} Bit',
    seconds: { one: '{n} Sekunde', other: '{n} Sekunden' },
    subject: 'Inhaber',
    until: 'bis {date}',
    validity: 'Gültigkeit',
    weeks: { one: '{n} Woche', other: '{n} Wochen' },
    years: { one: '{n} Jahr', other: '{n} Jahre' },
  },
);

const listed = (of: unknown): string => textsOf(of).join(', ');

/** A rule about values, in words. */
export function ruleInWords(rule: unknown): string {
  const { fixed, default: usual, allowed, pattern, required, forbidden, most, unfit } = membersOf(rule);
  if (forbidden === true) return m('forbidden');
  const said: string[] = [];
  if (fixed !== undefined) said.push(m('always', { values: listed(fixed) }));
  else if (allowed !== undefined) said.push(m('ofThese', { values: listed(allowed) }));
  else said.push(m('asked'));
  if (typeof pattern === 'string') said.push(m('fitting', { pattern }));
  if (usual !== undefined) said.push(m('fallback', { values: listed(usual) }));
  if (required === true) said.push(m('required'));
  if (Array.isArray(required)) said.push(m('requiredOf', { values: listed(required) }));
  if (typeof most === 'number') said.push(m('atMost', { n: most }));
  if (unfit === 'drop') said.push(m('dropped'));
  return said.join('; ');
}

const duration = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;
const units = ['years', 'months', 'weeks', 'days', 'hours', 'minutes', 'seconds'] as const;

/** How long, or until when. */
export function validityInWords(rules: Rules): string {
  const { duration: span, until } = membersOf(rules.validity);
  if (typeof until === 'string') {
    const at = moment(until);
    if (until.startsWith('9999')) return m('never');
    return m('until', { date: Number.isNaN(at.getTime()) ? until : dateTime(at) });
  }
  const [, ...counts] = duration.exec(String(span)) ?? [];
  const said = units.flatMap((unit, n) =>
    counts[n] === undefined ? [] : [m(unit, { n: Number(counts[n]) })],
  );
  return said.length === 0 ? String(span ?? m('notStated')) : said.join(' ');
}

const Lines = ({ of }: { readonly of: readonly (readonly [string, string])[] }) => (
  <ul>
    {of.map(([name, told]) => (
      <li key={name}>
        <Code of={name} />: <Text of={told} />
      </li>
    ))}
  </ul>
);

const eachRule = (of: unknown): readonly (readonly [string, string])[] =>
  Object.entries(membersOf(of)).map(([name, rule]) =>
    name === 'atLeastOneOf' ? [name, m('atLeastOneOf', { values: listed(rule) })] : [name, ruleInWords(rule)],
  );

/** The rules of a profile in words, row by row. */
export function rulesInWords(rules: Rules): readonly Fact[] {
  const { allowed, minimumRsaBits } = membersOf(rules.keys);
  const extensions = membersOf(rules.extensions);
  const { ca, pathLength } = membersOf(extensions.basicConstraints);
  const keys = [
    allowed === undefined ? m('anyKey') : listed(allowed),
    typeof minimumRsaBits === 'number' && m('rsaFrom', { bits: String(minimumRsaBits) }),
  ].filter((one) => typeof one === 'string');
  const published = [
    memberAt(extensions, ['crlDistributionPoints', 'service']) === true && m('publishedCrl'),
    memberAt(extensions, ['authorityInfoAccess', 'service']) === true && m('publishedIssuer'),
    ...textsOf(memberAt(extensions, ['crlDistributionPoints', 'urls'])),
    ...textsOf(memberAt(extensions, ['authorityInfoAccess', 'caIssuers'])),
    ...textsOf(memberAt(extensions, ['authorityInfoAccess', 'ocsp'])),
  ].filter((one) => typeof one === 'string');
  const policies = memberAt(extensions, ['certificatePolicies', 'policies']);
  const others = (
    [
      ['otherSubject', 'subject'],
      ['otherNames', 'subjectAltName'],
      ['otherExtensions', 'extensions'],
    ] as const
  ).map(([title, name]) => {
    const what = membersOf(rules.others)[name];
    return `${m(title)} ${m(what === 'drop' || what === 'keep' ? what : 'refuse')}`;
  });
  const lines = (title: string, of: unknown): Fact => {
    const each = eachRule(of);
    return [title, each.length === 0 ? null : <Lines key={title} of={each} />];
  };
  return [
    [m('validity'), <Text key="v" of={validityInWords(rules)} />],
    [m('keys'), <Text key="k" of={keys.join('; ')} />],
    lines(m('subject'), rules.subject),
    lines(m('names'), rules.subjectAltName),
    [m('keyUsage'), extensions.keyUsage ? <Text of={ruleInWords(extensions.keyUsage)} /> : null],
    [
      m('extended'),
      extensions.extendedKeyUsage ? <Text of={ruleInWords(extensions.extendedKeyUsage)} /> : null,
    ],
    [
      m('basic'),
      typeof ca !== 'boolean'
        ? null
        : !ca
          ? m('isNoCa')
          : typeof pathLength === 'number'
            ? m('isCaOver', { n: pathLength })
            : m('isCa'),
    ],
    [
      m('policies'),
      Array.isArray(policies) ? (
        <Text of={policies.map((one) => String(membersOf(one).oid)).join(', ')} />
      ) : null,
    ],
    [m('published'), published.length === 0 ? null : <Text of={published.join('; ')} />],
    lines(m('custom'), extensions.custom),
    [m('others'), others.join('; ')],
  ];
}
