import { useEffect, useId, useRef } from 'preact/hooks';
import { messages } from '../../language.ts';
import { Text } from '../display/text.tsx';

const m = messages(
  {
    choose: 'Please choose',
    optional: 'optional',
  },
  {
    choose: 'Bitte wählen',
    optional: 'optional',
  },
);

export type Value = string | number | boolean | null | readonly string[] | File | undefined;
export type Values = Readonly<Record<string, Value>>;

/** One input. What it is worth goes to `send` under `name`; what is left empty does not go at all. */
export interface Field {
  /** As the API calls it, so that its complaints find the input. */
  readonly name: string;
  readonly title: string;
  /**
   * `choice`: one of `options`; `checks`: any of them; `file`: its bytes as a `data:` URI, which the API takes; `check`: true or
   * false. Default: a line of text.
   */
  readonly type?: 'text' | 'password' | 'number' | 'area' | 'check' | 'choice' | 'checks' | 'file';
  readonly options?: readonly (readonly [value: string | number | null, title: string])[];
  readonly required?: boolean;
  /** What there is to know; in a form also about what has been entered. */
  readonly hint?: string | ((values: Values) => string | undefined);
  readonly initial?: Value;
  /** Empty text is sent too: it is how a value is taken away. */
  readonly sendEmpty?: boolean;
  /** What has to be typed, as a confirmation: it is not sent. */
  readonly expected?: string;
  /** Shown, and sent, only then. */
  readonly when?: (values: Values) => boolean;
  readonly autocomplete?: string;
  /** Of a file: `.pem,.cer`. */
  readonly accept?: string;
  /** A file that is there already. */
  readonly file?: File | undefined;
  readonly maxLength?: number;
  /** Text of machines: PEM, OIDs. */
  readonly isCode?: boolean;
  /** `checks`: beside each other. */
  readonly isInline?: boolean;
}

/** The input of a field, with what is said of it. */
export function Input({
  field,
  value,
  told,
  hint,
  set,
}: {
  readonly field: Omit<Field, 'hint'>;
  readonly hint?: string | undefined;
  readonly value: Value;
  readonly told: readonly string[];
  readonly set: (value: Value) => void;
}) {
  const id = useId();
  const { name, title, type = 'text', options = [], required } = field;
  const describedBy =
    [hint && `${id}-h`, told.length > 0 && `${id}-e`].filter(Boolean).join(' ') || undefined;
  const common = {
    id,
    name,
    'aria-invalid': told.length > 0,
    'aria-describedby': describedBy,
    'aria-required': required ?? false,
  } as const;
  const notes = (
    <>
      {hint && (
        <p class="hint" id={`${id}-h`}>
          {hint}
        </p>
      )}
      {told.length > 0 && (
        <p class="complaint" id={`${id}-e`}>
          <Text of={told.join(' ')} />
        </p>
      )}
    </>
  );
  if (type === 'check') {
    return (
      <div class="field check">
        <input
          {...common}
          type="checkbox"
          checked={value === true}
          onChange={(event) => set(event.currentTarget.checked)}
        />
        <label for={id}>{title}</label>
        {notes}
      </div>
    );
  }
  if (type === 'checks') {
    const chosen = new Set(value as readonly string[]);
    return (
      <fieldset class={field.isInline ? 'field inline' : 'field'} aria-describedby={describedBy}>
        <legend>{title}</legend>
        {options.map(([one, label]) => (
          <label class="option" key={String(one)}>
            <input
              type="checkbox"
              name={name}
              checked={chosen.has(String(one))}
              aria-invalid={told.length > 0}
              onChange={(event) => {
                const next = new Set(chosen);
                if (event.currentTarget.checked) next.add(String(one));
                else next.delete(String(one));
                set(options.map(([all]) => String(all)).filter((all) => next.has(all)));
              }}
            />
            {label}
          </label>
        ))}
        {notes}
      </fieldset>
    );
  }
  return (
    <div class="field">
      <label for={id}>
        {title} {!required && <span class="quiet">({m('optional')})</span>}
      </label>
      {type === 'choice' ? (
        <select
          {...common}
          value={String(options.findIndex(([one]) => one === value))}
          onChange={(event) => set(options[Number(event.currentTarget.value)]?.[0] ?? '')}
        >
          {!options.some(([one]) => one === value) && <option value="-1">{m('choose')}</option>}
          {options.map(([one, label], n) => (
            <option key={String(one)} value={String(n)}>
              {label}
            </option>
          ))}
        </select>
      ) : type === 'area' ? (
        <textarea
          {...common}
          class={field.isCode ? 'code' : undefined}
          rows={8}
          spellcheck={!field.isCode}
          value={String(value ?? '')}
          onInput={(event) => set(event.currentTarget.value)}
        />
      ) : type === 'file' ? (
        <FileInput common={common} accept={field.accept} file={field.file} set={set} />
      ) : (
        <input
          {...common}
          {...{ type: (type === 'password' ? 'password' : 'text') as 'text' }}
          inputMode={type === 'number' ? 'numeric' : undefined}
          class={field.isCode ? 'code' : undefined}
          maxLength={field.maxLength}
          autocomplete={field.autocomplete ?? 'off'}
          value={String(value ?? '')}
          onInput={(event) => set(event.currentTarget.value)}
        />
      )}
      {notes}
    </div>
  );
}

/** Chosen, or dropped onto it: browsers take files dropped on their own input. */
function FileInput({
  common,
  accept,
  file,
  set,
}: {
  readonly common: { readonly id: string; readonly name: string };
  readonly accept: string | undefined;
  readonly file: File | undefined;
  readonly set: (value: Value) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!file || !input.current) return;
    const transfer = new DataTransfer();
    transfer.items.add(file);
    input.current.files = transfer.files;
    set(file);
  }, [file]);
  return (
    <input
      {...common}
      ref={input}
      type="file"
      class="drop"
      accept={accept}
      onChange={(event) => set(event.currentTarget.files?.[0] ?? '')}
    />
  );
}
