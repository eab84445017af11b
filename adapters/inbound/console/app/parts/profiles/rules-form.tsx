import { messages } from '../../language.ts';
import { Text } from '../display/text.tsx';
import { validityInWords, m as w } from './profile-words.tsx';
import { memberAt, membersOf, type Rules, type RulesPart, textsOf, withMember } from './rules.ts';
import { Extensions } from './rules-extensions.tsx';
import { Choices, Count, Line, Select } from './rules-inputs.tsx';
import { ValueRules } from './rules-values.tsx';

const m = messages(
  {
    addAttribute: 'Another attribute',
    addKind: 'Another kind of name',
    json: 'The rules below can be changed in the JSON alone: {names}',
    keysHint: 'None chosen: any kind.',
    oneOf: 'One of these is required',
    rsaBits: 'RSA with at least … bits',
    validityHint: 'P90D: 90 days. P1Y: a year. PT12H: 12 hours.',
    validityUntil: 'or until',
  },
  {
    addAttribute: 'Weiteres Attribut',
    addKind: 'Weitere Art von Namen',
    json: 'Diese Regeln lassen sich nur im JSON ändern: {names}',
    keysHint: 'Keine gewählt: jede Art.',
    oneOf: 'Eines davon ist erforderlich',
    rsaBits: 'RSA ab … Bit',
    validityHint: 'P90D: 90 Tage. P1Y: ein Jahr. PT12H: 12 Stunden.',
    validityUntil: 'oder bis',
  },
);

/** The rules that most profiles have, as a form; what it does not know stays as it is. */
export function RulesForm({
  rules,
  change,
}: {
  readonly rules: Rules;
  readonly change: (rules: Rules) => void;
}) {
  const part: RulesPart = { rules, set: (path, value) => change(withMember(rules, path, value)) };
  const { set } = part;
  return (
    <div class="rules">
      <Line title={w('description')} value={rules.description} set={(value) => set(['description'], value)} />
      <Validity {...part} />
      <Keys {...part} />
      <Names {...part} />
      <Extensions {...part} />
      <Others {...part} />
      <Unknown rules={rules} />
    </div>
  );
}

const Validity = ({ rules, set }: RulesPart) => (
  <section>
    <h3>{w('validity')}</h3>
    <div class="beside">
      <Line
        title={w('validity')}
        value={memberAt(rules, ['validity', 'duration'])}
        set={(value) => set(['validity'], value === undefined ? {} : { duration: value })}
        hint={`${validityInWords(rules)}. ${m('validityHint')}`}
      />
      <Line
        title={m('validityUntil')}
        value={memberAt(rules, ['validity', 'until'])}
        set={(value) => set(['validity'], value === undefined ? {} : { until: value })}
        hint="2030-12-31T23:59:59Z"
      />
    </div>
  </section>
);

const keyTypes = [
  'rsa',
  'p-256',
  'p-384',
  'p-521',
  'ed25519',
  'ml-dsa-44',
  'ml-dsa-65',
  'ml-dsa-87',
] as const;
const Keys = ({ rules, set }: RulesPart) => (
  <section>
    <h3>{w('keys')}</h3>
    <Choices
      title={w('keys')}
      of={keyTypes}
      chosen={textsOf(memberAt(rules, ['keys', 'allowed']))}
      set={(chosen) => set(['keys', 'allowed'], chosen.length === 0 ? undefined : chosen)}
      hint={m('keysHint')}
    />
    <Count
      title={m('rsaBits')}
      value={memberAt(rules, ['keys', 'minimumRsaBits'])}
      set={(value) => set(['keys', 'minimumRsaBits'], value)}
    />
  </section>
);

const attributes = ['CN', 'serialNumber', 'O', 'OU', 'C', 'ST', 'L', 'DC', 'UID', 'emailAddress'];
const kinds = ['dns', 'ip', 'uri', 'email', 'directory', 'registeredId'];
/** Of the subject, and the alternative ones. */
const Names = ({ rules, set }: RulesPart) => (
  <>
    <ValueRules
      title={w('subject')}
      adding={m('addAttribute')}
      known={attributes}
      of={membersOf(rules.subject)}
      set={(path, value) => set(['subject', ...path], value)}
    />
    <ValueRules
      title={w('names')}
      adding={m('addKind')}
      known={kinds}
      of={membersOf(rules.subjectAltName)}
      except={['atLeastOneOf']}
      set={(path, value) => set(['subjectAltName', ...path], value)}
    />
    <Choices
      title={m('oneOf')}
      isTitled
      of={kinds.filter((kind) => kind in membersOf(rules.subjectAltName))}
      chosen={textsOf(memberAt(rules, ['subjectAltName', 'atLeastOneOf']))}
      set={(chosen) => set(['subjectAltName', 'atLeastOneOf'], chosen.length === 0 ? undefined : chosen)}
    />
  </>
);

/** What becomes of what no rule is about. */
function Others({ rules, set }: RulesPart) {
  const others = [
    ['subject', w('otherSubject')],
    ['subjectAltName', w('otherNames')],
    ['extensions', w('otherExtensions')],
  ] as const;
  return (
    <section>
      <h3>{w('others')}</h3>
      <div class="beside">
        {others.map(([name, title]) => (
          <Select
            key={name}
            title={title}
            value={String(memberAt(rules, ['others', name]) ?? 'refuse')}
            options={[
              ['refuse', w('refuse')],
              ['drop', w('drop')],
              ['keep', w('keep')],
            ]}
            set={(value) => set(['others', name], value === 'refuse' ? undefined : value)}
          />
        ))}
      </div>
    </section>
  );
}

/** What the form has no inputs for. */
function Unknown({ rules }: { readonly rules: Rules }) {
  const names = ['certificatePolicies', 'custom'].filter((name) => name in membersOf(rules.extensions));
  if (names.length === 0) return null;
  return (
    <p class="quiet">
      <Text of={m('json', { names: names.join(', ') })} />
    </p>
  );
}
