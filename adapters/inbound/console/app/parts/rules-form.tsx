import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { messages } from '../language.ts';
import { words } from '../words.ts';
import { ruleInWords, validityInWords, m as w } from './profile-words.tsx';
import { memberAt, membersOf, type Rules, textsOf, withMember } from './rules.ts';
import { Code, Text } from './text.tsx';

const m = messages(
  {
    addAttribute: 'Another attribute',
    addKind: 'Another kind of name',
    allowed: 'Of these',
    always: 'Always these, whatever is requested',
    crl: 'Where the CRL of the CA is',
    fallback: 'If none is requested',
    fixed: 'Always',
    forbidden: 'Never',
    issuer: 'Where the certificate of the CA is, and who answers about its state',
    isCa: 'It is a CA',
    json: 'The rules below can be changed in the JSON alone: {names}',
    keysHint: 'None chosen: any kind.',
    lines: 'One value a line; {device.common_name} and the like are filled in.',
    most: 'At most',
    none: 'not stated',
    oneOf: 'One of these has to be there',
    other: 'Other purposes (OIDs or names), one a line',
    pathLength: 'CAs below it at most',
    pattern: 'Has to match (RE2)',
    remove: 'Remove',
    removeOf: 'Remove the rule about {name}',
    requested: 'What is requested, of these',
    required: 'Has to be there',
    rsaBits: 'RSA from … bits on',
    unfit: 'What does not fit',
    validityHint: 'P90D: 90 days. P1Y: a year. PT12H: 12 hours.',
    validityUntil: 'or until',
    wildcards: 'Names such as *.example too',
  },
  {
    addAttribute: 'Weiteres Attribut',
    addKind: 'Weitere Art von Namen',
    allowed: 'Aus diesen',
    always: 'Immer diese, was auch erbeten wird',
    crl: 'Wo die Sperrliste der Stelle ist',
    fallback: 'Wenn nichts erbeten wird',
    fixed: 'Immer',
    forbidden: 'Nie',
    issuer: 'Wo das Zertifikat der Stelle ist, und wer über seinen Zustand Auskunft gibt',
    isCa: 'Es ist eine Zertifizierungsstelle',
    json: 'Diese Regeln lassen sich nur im JSON ändern: {names}',
    keysHint: 'Keine gewählt: jede Art.',
    lines: 'Ein Wert je Zeile; {device.common_name} und dergleichen werden ausgefüllt.',
    most: 'Höchstens',
    none: 'nicht angegeben',
    oneOf: 'Eines davon muss da sein',
    other: 'Weitere Zwecke (OIDs oder Namen), einer je Zeile',
    pathLength: 'Höchstens so viele Stellen darunter',
    pattern: 'Muss passen zu (RE2)',
    remove: 'Entfernen',
    removeOf: 'Die Regel über {name} entfernen',
    requested: 'Was erbeten wird, aus diesen',
    required: 'Muss da sein',
    rsaBits: 'RSA ab … Bit',
    unfit: 'Was nicht passt',
    validityHint: 'P90D: 90 Tage. P1Y: ein Jahr. PT12H: 12 Stunden.',
    validityUntil: 'oder bis',
    wildcards: 'Auch Namen wie *.example',
  },
);

const attributes = ['CN', 'serialNumber', 'O', 'OU', 'C', 'ST', 'L', 'DC', 'UID', 'emailAddress'];
const kinds = ['dns', 'ip', 'uri', 'email', 'directory', 'registeredId'];
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
const usages = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
] as const;
const purposes = [
  'serverAuth',
  'clientAuth',
  'codeSigning',
  'emailProtection',
  'timeStamping',
  'OCSPSigning',
] as const;

/** Of a member at a path. */
type SetMember = (path: readonly string[], value: unknown) => void;

/** The rules that most profiles have, as a form; what it does not know stays as it is. */
export function RulesForm({
  rules,
  change,
}: {
  readonly rules: Rules;
  readonly change: (rules: Rules) => void;
}) {
  const set: SetMember = (path, value) => change(withMember(rules, path, value));
  const at = (...path: string[]): unknown => memberAt(rules, path);
  return (
    <div class="rules">
      <Line title={w('description')} value={at('description')} set={(value) => set(['description'], value)} />
      <section>
        <h3>{w('validity')}</h3>
        <div class="beside">
          <Line
            title={w('validity')}
            value={at('validity', 'duration')}
            set={(value) => set(['validity'], value === undefined ? {} : { duration: value })}
            hint={`${validityInWords(rules)}. ${m('validityHint')}`}
          />
          <Line
            title={m('validityUntil')}
            value={at('validity', 'until')}
            set={(value) => set(['validity'], value === undefined ? {} : { until: value })}
            hint="2030-12-31T23:59:59Z"
          />
        </div>
      </section>
      <section>
        <h3>{w('keys')}</h3>
        <Choices
          title={w('keys')}
          of={keyTypes}
          chosen={textsOf(at('keys', 'allowed'))}
          set={(chosen) => set(['keys', 'allowed'], chosen.length === 0 ? undefined : chosen)}
          hint={m('keysHint')}
        />
        <Count
          title={m('rsaBits')}
          value={at('keys', 'minimumRsaBits')}
          set={(value) => set(['keys', 'minimumRsaBits'], value)}
        />
      </section>
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
        chosen={textsOf(at('subjectAltName', 'atLeastOneOf'))}
        set={(chosen) => set(['subjectAltName', 'atLeastOneOf'], chosen.length === 0 ? undefined : chosen)}
      />
      <Purposes
        title={w('keyUsage')}
        of={usages}
        rule={at('extensions', 'keyUsage')}
        set={(rule) => set(['extensions', 'keyUsage'], rule)}
      />
      <Purposes
        title={w('extended')}
        of={purposes}
        open
        rule={at('extensions', 'extendedKeyUsage')}
        set={(rule) => set(['extensions', 'extendedKeyUsage'], rule)}
      />
      <section>
        <h3>{w('basic')}</h3>
        <Check
          title={m('isCa')}
          value={at('extensions', 'basicConstraints', 'ca') === true}
          set={(ca) => set(['extensions', 'basicConstraints'], { ca })}
        />
        {at('extensions', 'basicConstraints', 'ca') === true && (
          <Count
            title={m('pathLength')}
            value={at('extensions', 'basicConstraints', 'pathLength')}
            set={(value) => set(['extensions', 'basicConstraints', 'pathLength'], value)}
          />
        )}
      </section>
      <section>
        <h3>{w('published')}</h3>
        {(
          [
            ['crlDistributionPoints', m('crl')],
            ['authorityInfoAccess', m('issuer')],
          ] as const
        ).map(([name, title]) => (
          <Check
            key={name}
            title={title}
            value={at('extensions', name, 'service') === true}
            set={(service) => {
              const { service: _, ...rest } = membersOf(at('extensions', name));
              const isEmpty = !service && Object.keys(rest).length === 0;
              set(['extensions', name], isEmpty ? undefined : { service, ...rest });
            }}
          />
        ))}
      </section>
      <section>
        <h3>{w('others')}</h3>
        <div class="beside">
          {(
            [
              ['subject', w('otherSubject')],
              ['subjectAltName', w('otherNames')],
              ['extensions', w('otherExtensions')],
            ] as const
          ).map(([name, title]) => (
            <Select
              key={name}
              title={title}
              value={String(at('others', name) ?? 'refuse')}
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
      <Unknown rules={rules} />
    </div>
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

function ValueRules({
  title,
  adding,
  known,
  of,
  except = [],
  set,
}: {
  readonly title: string;
  readonly adding: string;
  readonly known: readonly string[];
  readonly of: Rules;
  readonly except?: readonly string[];
  readonly set: SetMember;
}) {
  const id = useId();
  const [added, setAdded] = useState('');
  const name = added.trim();
  const names = Object.keys(of).filter((one) => !except.includes(one));
  return (
    <section>
      <h3>{title}</h3>
      {names.map((one) => (
        <ValueRule
          key={one}
          name={one}
          rule={membersOf(of[one])}
          set={(member, value) => set([one, member], value)}
          remove={() => set([one], undefined)}
        />
      ))}
      <div class="adding">
        <label for={id}>{adding}</label>
        <input
          id={id}
          list={`${id}-l`}
          value={added}
          maxLength={80}
          onInput={(event) => setAdded(event.currentTarget.value)}
        />
        <datalist id={`${id}-l`}>
          {known
            .filter((one) => !(one in of))
            .map((one) => (
              <option key={one} value={one} />
            ))}
        </datalist>
        <button
          type="button"
          aria-disabled={name === ''}
          onClick={() => {
            if (name === '') return;
            if (!(name in of)) set([name], {});
            setAdded('');
          }}
        >
          {words('add')}
        </button>
      </div>
    </section>
  );
}

function ValueRule({
  name,
  rule,
  set,
  remove,
}: {
  readonly name: string;
  readonly rule: Rules;
  readonly set: (member: string, value: unknown) => void;
  readonly remove: () => void;
}) {
  const lines = (member: string, title: string) => (
    <Lines
      title={title}
      value={rule[member]}
      set={(value) =>
        set(
          member,
          value.length === 0 ? undefined : value.length === 1 && member !== 'allowed' ? value[0] : value,
        )
      }
    />
  );
  return (
    <details class="rule">
      <summary>
        <Code of={name} />{' '}
        <span class="quiet">
          <Text of={ruleInWords(rule)} />
        </span>
      </summary>
      <div class="beside">
        {lines('fixed', m('fixed'))}
        {lines('allowed', m('allowed'))}
        {lines('default', m('fallback'))}
      </div>
      <p class="hint">{m('lines')}</p>
      <div class="beside">
        <Line title={m('pattern')} value={rule.pattern} set={(value) => set('pattern', value)} />
        <Count title={m('most')} value={rule.most} set={(value) => set('most', value)} />
        <Select
          title={m('unfit')}
          value={String(rule.unfit ?? 'refuse')}
          options={[
            ['refuse', w('refuse')],
            ['drop', w('drop')],
          ]}
          set={(value) => set('unfit', value === 'refuse' ? undefined : value)}
        />
      </div>
      <div class="beside">
        <Check
          title={m('required')}
          value={rule.required === true}
          set={(value) => set('required', value || undefined)}
        />
        <Check
          title={m('forbidden')}
          value={rule.forbidden === true}
          set={(value) => set('forbidden', value || undefined)}
        />
        {name === 'dns' && (
          <Check
            title={m('wildcards')}
            value={rule.wildcards === true}
            set={(value) => set('wildcards', value || undefined)}
          />
        )}
        <button type="button" class="plain" aria-label={m('removeOf', { name })} onClick={remove}>
          {m('remove')}
        </button>
      </div>
    </details>
  );
}

/** Key usages, or purposes: always these, or what is requested of these. */
function Purposes({
  title,
  of,
  open = false,
  rule,
  set,
}: {
  readonly title: string;
  readonly of: readonly string[];
  /** Others than those of the list may be named. */
  readonly open?: boolean;
  readonly rule: unknown;
  readonly set: (rule: Rules | undefined) => void;
}) {
  const { fixed, allowed, unfit, ...rest } = membersOf(rule);
  const mode = rule === undefined ? 'none' : fixed === undefined ? 'allowed' : 'fixed';
  const chosen = textsOf(mode === 'fixed' ? fixed : allowed);
  const others = chosen.filter((one) => !of.includes(one));
  const put = (as: string, values: readonly string[], drop: unknown): void => {
    const { default: _d, required: _r, ...kept } = rest;
    const named = values.length === 0 ? [of[0]!] : values;
    if (as === 'none') set(undefined);
    else set({ ...(as === 'fixed' ? kept : rest), [as]: named, ...(drop !== undefined && { unfit: drop }) });
  };
  return (
    <section>
      <Select
        title={title}
        value={mode}
        options={[
          ['none', m('none')],
          ['fixed', m('always')],
          ['allowed', m('requested')],
        ]}
        set={(as) => put(as, chosen, unfit)}
      />
      {mode !== 'none' && (
        <>
          <Choices
            title={title}
            of={of}
            chosen={chosen.filter((one) => of.includes(one))}
            set={(next) => put(mode, [...next, ...others], unfit)}
          />
          {open && (
            <Lines
              title={m('other')}
              value={others}
              set={(next) => put(mode, [...chosen.filter((one) => of.includes(one)), ...next], unfit)}
            />
          )}
          <Select
            title={m('unfit')}
            value={String(unfit ?? 'refuse')}
            options={[
              ['refuse', w('refuse')],
              ['drop', w('drop')],
            ]}
            set={(value) => put(mode, chosen, value === 'refuse' ? undefined : value)}
          />
        </>
      )}
    </section>
  );
}

function Labelled({
  title,
  hint,
  children,
}: {
  readonly title: string;
  readonly hint?: string | undefined;
  readonly children: (id: string) => ComponentChildren;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{title}</label>
      {children(id)}
      {hint !== undefined && (
        <p class="hint">
          <Text of={hint} />
        </p>
      )}
    </div>
  );
}

const Line = ({
  title,
  value,
  set,
  hint,
}: {
  readonly title: string;
  readonly value: unknown;
  readonly set: (value: string | undefined) => void;
  readonly hint?: string;
}) => (
  <Labelled title={title} hint={hint}>
    {(id) => (
      <input
        id={id}
        value={typeof value === 'string' ? value : ''}
        autocomplete="off"
        onInput={({ currentTarget }) => set(currentTarget.value === '' ? undefined : currentTarget.value)}
      />
    )}
  </Labelled>
);

const Count = ({
  title,
  value,
  set,
}: {
  readonly title: string;
  readonly value: unknown;
  readonly set: (value: number | undefined) => void;
}) => (
  <Labelled title={title}>
    {(id) => (
      <input
        id={id}
        inputMode="numeric"
        value={typeof value === 'number' ? String(value) : ''}
        onInput={({ currentTarget }) => {
          const digits = currentTarget.value.replace(/\D/g, '').slice(0, 5);
          set(digits === '' ? undefined : Number(digits));
        }}
      />
    )}
  </Labelled>
);

/** What is typed stays as it is typed; empty lines are no values. */
function Lines({
  title,
  value,
  set,
}: {
  readonly title: string;
  readonly value: unknown;
  readonly set: (values: readonly string[]) => void;
}) {
  const [typed, setTyped] = useState<string>();
  const values = textsOf(value);
  const text =
    typed !== undefined && valuesIn(typed).join('\n') === values.join('\n') ? typed : values.join('\n');
  return (
    <Labelled title={title}>
      {(id) => (
        <textarea
          id={id}
          rows={Math.max(2, values.length)}
          class="code"
          spellcheck={false}
          value={text}
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value);
            set(valuesIn(currentTarget.value));
          }}
        />
      )}
    </Labelled>
  );
}

const valuesIn = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const Select = ({
  title,
  value,
  options,
  set,
}: {
  readonly title: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly set: (value: string) => void;
}) => (
  <Labelled title={title}>
    {(id) => (
      <select id={id} value={value} onChange={({ currentTarget }) => set(currentTarget.value)}>
        {options.map(([one, label]) => (
          <option key={one} value={one}>
            {label}
          </option>
        ))}
      </select>
    )}
  </Labelled>
);

const Check = ({
  title,
  value,
  set,
}: {
  readonly title: string;
  readonly value: boolean;
  readonly set: (value: boolean) => void;
}) => (
  <label class="option">
    <input type="checkbox" checked={value} onChange={({ currentTarget }) => set(currentTarget.checked)} />
    {title}
  </label>
);

/** Any of a few; what is chosen and not among them stays, and can be taken away. */
function Choices({
  title,
  of,
  chosen,
  set,
  hint,
  isTitled = false,
}: {
  readonly title: string;
  readonly of: readonly string[];
  /** Nothing around it says what it is about. */
  readonly isTitled?: boolean;
  readonly chosen: readonly string[];
  readonly set: (chosen: readonly string[]) => void;
  readonly hint?: string;
}) {
  const all = [...new Set([...of, ...chosen])];
  if (all.length === 0) return null;
  return (
    <fieldset class="choices" aria-label={title}>
      {isTitled && <p>{title}:</p>}
      {all.map((one) => (
        <label class="option" key={one}>
          <input
            type="checkbox"
            checked={chosen.includes(one)}
            onChange={({ currentTarget }) =>
              set(all.filter((other) => (other === one ? currentTarget.checked : chosen.includes(other))))
            }
          />
          <Text of={one} />
        </label>
      ))}
      {hint && <p class="hint">{hint}</p>}
    </fieldset>
  );
}
