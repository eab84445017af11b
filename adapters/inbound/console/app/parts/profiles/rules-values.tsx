import { useId, useState } from 'preact/hooks';
import { messages } from '../../language.ts';
import { words } from '../../words.ts';
import { Code, Text } from '../display/text.tsx';
import { ruleInWords } from './profile-words.tsx';
import { membersOf, type Rules, type SetMember } from './rules.ts';
import { Check, Count, Line, Lines, Unfit } from './rules-inputs.tsx';

const m = messages(
  {
    allowed: 'Of these',
    fallback: 'If none is requested',
    fixed: 'Always',
    forbidden: 'Never',
    lines: 'One value a line; {device.common_name} and the like are filled in.',
    most: 'At most',
    pattern: 'Has to match (RE2)',
    remove: 'Remove',
    removeOf: 'Remove the rule about {name}',
    required: 'Required',
    wildcards: 'Also names such as *.example',
  },
  {
    allowed: 'Aus diesen',
    fallback: 'Wenn nichts beantragt wird',
    fixed: 'Immer',
    forbidden: 'Nie',
    lines: 'Ein Wert je Zeile; {device.common_name} und dergleichen werden ausgefüllt.',
    most: 'Höchstens',
    pattern: 'Muss passen zu (RE2)',
    remove: 'Entfernen',
    removeOf: 'Die Regel über {name} entfernen',
    required: 'Erforderlich',
    wildcards: 'Auch Namen wie *.example',
  },
);

/** Rules about values by their names: attributes of the subject, kinds of alternative names. */
export function ValueRules({
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
        <Unfit value={rule.unfit} set={(value) => set('unfit', value)} />
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
