import { useId, useRef, useState } from 'preact/hooks';
import { useShared } from '../../data.ts';
import { messages } from '../../language.ts';
import { Card } from '../display/facts.tsx';
import { Code } from '../display/text.tsx';
import { membersOf, pathAt, placeOf, type Rules, schemaAt } from './rules.ts';

const m = messages(
  {
    here: 'Here',
    json: 'The same as JSON',
    jsonHint: 'A change in the form also changes the JSON, and the reverse.',
    members: 'may have',
    notJson: 'This is not a valid JSON object. The form is updated when it is.',
  },
  {
    here: 'Hier',
    json: 'Dasselbe als JSON',
    jsonHint: 'Eine Änderung im Formular ändert auch das JSON, und umgekehrt.',
    members: 'kann haben',
    notJson: 'Das ist kein gültiges JSON-Objekt. Das Formular wird aktualisiert, sobald es gültig ist.',
  },
);

const written = (rules: Rules): string => JSON.stringify(rules, null, 2);

function rulesIn(text: string): Rules | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const rules = membersOf(value);
    return rules === value ? rules : undefined;
  } catch {
    return undefined;
  }
}

/** Rules, and their JSON as it is typed: what changes in one changes in the other, once it is rules. */
export function useRulesSource(stored: Rules) {
  const [rules, setRules] = useState(stored);
  const [text, setText] = useState(() => written(stored));
  const [caret, setCaret] = useState(0);
  const area = useRef<HTMLTextAreaElement>(null);
  return {
    rules,
    text,
    isRules: rulesIn(text) !== undefined,
    caret,
    setCaret,
    area,
    change(next: Rules): void {
      setRules(next);
      setText(written(next));
    },
    type(next: string): void {
      setText(next);
      const read = rulesIn(next);
      if (read) setRules(read);
    },
    /** Shows the place that a JSON pointer names. */
    jump(pointer: string): void {
      const { current } = area;
      const place = placeOf(text, pointer);
      if (!current || !place) return;
      current.focus();
      current.setSelectionRange(place.start, place.end);
      const line = text.slice(0, place.start).split('\n').length;
      const lines = text.split('\n').length;
      current.scrollTop = (current.scrollHeight * Math.max(0, line - 4)) / lines;
      setCaret(place.end);
    },
  };
}

/** The JSON, with what the schema says of the place where the caret is. */
export function RulesSource({
  of: { text, isRules, caret, setCaret, area, type },
}: {
  readonly of: ReturnType<typeof useRulesSource>;
}) {
  const { data: schema } = useShared<unknown>('/api/cert-profiles/schema/');
  const id = useId();
  const here = pathAt(text, caret);
  const hint = schemaAt(schema, here);
  return (
    <Card title={m('json')}>
      <p class={isRules ? 'hint' : 'complaint'} id={id} role="status">
        {isRules ? m('jsonHint') : m('notJson')}
      </p>
      <textarea
        ref={area}
        class="code"
        name="profile"
        rows={12}
        spellcheck={false}
        aria-label={m('json')}
        aria-describedby={id}
        aria-invalid={!isRules}
        value={text}
        onInput={({ currentTarget }) => {
          type(currentTarget.value);
          setCaret(currentTarget.selectionStart);
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
      />
      {hint && (
        <p class="meaning">
          {m('here')}: <Code of={here.length === 0 ? '/' : here.join(' › ')} />
          {hint.description !== undefined && <> – {hint.description}</>}
          {hint.members.length > 0 && (
            <>
              {' '}
              ({m('members')} {hint.members.join(', ')})
            </>
          )}
        </p>
      )}
    </Card>
  );
}
