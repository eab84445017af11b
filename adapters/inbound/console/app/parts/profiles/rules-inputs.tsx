import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { messages } from '../../language.ts';
import { Text } from '../display/text.tsx';
import { m as w } from './profile-words.tsx';
import { textsOf } from './rules.ts';

const m = messages(
  {
    unfit: 'Values that do not match',
  },
  {
    unfit: 'Werte, die nicht passen',
  },
);

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

export const Line = ({
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

export const Count = ({
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

/** One value a line. What is typed stays as it is typed; empty lines are no values. */
export function Lines({
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

export const Select = ({
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

/** What becomes of what a rule does not allow; nothing is written where it is refused. */
export const Unfit = ({
  value,
  set,
}: {
  readonly value: unknown;
  readonly set: (value: string | undefined) => void;
}) => (
  <Select
    title={m('unfit')}
    value={String(value ?? 'refuse')}
    options={[
      ['refuse', w('refuse')],
      ['drop', w('drop')],
    ]}
    set={(chosen) => set(chosen === 'refuse' ? undefined : chosen)}
  />
);

export const Check = ({
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
export function Choices({
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
