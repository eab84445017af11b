import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ApiError, type FieldErrors } from '../api.ts';
import { messages } from '../language.ts';
import { words } from '../words.ts';
import { Problem } from './answer.tsx';
import { Text } from './text.tsx';

const m = messages(
  {
    choose: 'Please choose',
    isRequired: 'This is needed.',
    notNumber: 'A whole number is expected.',
    optional: 'optional',
    unknownField: '{name}: {told}',
  },
  {
    choose: 'Bitte wählen',
    isRequired: 'Das wird gebraucht.',
    notNumber: 'Eine ganze Zahl wird erwartet.',
    optional: 'freiwillig',
    unknownField: '{name}: {told}',
  },
);

type Value = string | number | boolean | null | readonly string[] | File | undefined;
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
  readonly hint?: string;
  readonly initial?: Value;
  /** Empty text is sent too: it is how a value is taken away. */
  readonly sendEmpty?: boolean;
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

/** What a record is called. */
export const nameField = (of?: { readonly unique_name: string }): Field => ({
  name: 'unique_name',
  title: words('name'),
  required: true,
  maxLength: 255,
  initial: of?.unique_name,
});

/**
 * A form from its description. `send` gets the values; complaints of the API are shown beside the inputs that they name, and the
 * first of these has the focus.
 */
export function Form({
  fields,
  action,
  send,
  cancel,
  children,
}: {
  readonly fields: readonly Field[];
  /** On the button. */
  readonly action: string;
  readonly send: (values: Values) => Promise<unknown>;
  readonly cancel?: () => void;
  readonly children?: ComponentChildren;
}) {
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map(({ name, initial, type }) => [name, initial ?? emptyOf(type)])),
  );
  const [complaints, setComplaints] = useState<FieldErrors>({});
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const shown = fields.filter(({ when }) => when?.(values) ?? true);

  useEffect(() => {
    if (Object.keys(complaints).length > 0)
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [complaints]);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (busy) return;
    const found = Object.fromEntries(
      shown.flatMap((field) => {
        const complaint = complaintOf(field, values[field.name]);
        return complaint === undefined ? [] : [[field.name, [complaint]]];
      }),
    );
    setError(undefined);
    setComplaints(found);
    if (Object.keys(found).length > 0) return;
    setBusy(true);
    try {
      const entries = await Promise.all(shown.map((field) => sent(field, values[field.name])));
      await send(Object.fromEntries(entries.flat()));
    } catch (thrown) {
      const { own, rest } = divide(thrown, shown);
      setComplaints(own);
      setError(rest);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form class="form" ref={form} onSubmit={submit} noValidate>
      {shown.map((field) => (
        <Input
          key={field.name}
          field={field}
          value={values[field.name]}
          told={complaints[field.name] ?? []}
          set={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
      {children}
      {error !== undefined && <Problem error={error} />}
      <div class="buttons">
        <button type="submit" class="main" aria-disabled={busy}>
          {action}
        </button>
        {cancel && (
          <button type="button" onClick={cancel}>
            {words('cancel')}
          </button>
        )}
      </div>
    </form>
  );
}

const emptyOf = (type: Field['type']): Value => (type === 'check' ? false : type === 'checks' ? [] : '');

const isEmpty = (value: Value): boolean =>
  value === '' || value === undefined || (Array.isArray(value) && value.length === 0);

function complaintOf({ required, type }: Field, value: Value): string | undefined {
  if (isEmpty(value)) return required ? m('isRequired') : undefined;
  return type === 'number' && !/^-?\d{1,15}$/.test(String(value).trim()) ? m('notNumber') : undefined;
}

async function sent({ name, type, sendEmpty }: Field, value: Value): Promise<[string, Value][]> {
  if (isEmpty(value) && type !== 'checks') return sendEmpty ? [[name, '']] : [];
  if (value instanceof File) return [[name, await dataUri(value)]];
  return [[name, type === 'number' ? Number(value) : value]];
}

/** Complaints about the fields that are shown, and an error for everything else. */
function divide(
  thrown: unknown,
  fields: readonly Field[],
): { readonly own: FieldErrors; readonly rest: unknown } {
  if (!(thrown instanceof ApiError) || Object.keys(thrown.fields).length === 0)
    return { own: {}, rest: thrown };
  const known = new Set(fields.map(({ name }) => name));
  const entries = Object.entries(thrown.fields);
  const others = entries
    .filter(([name]) => !known.has(name))
    .map(([name, told]) =>
      name === 'non_field_errors' ? told.join('; ') : m('unknownField', { name, told: told.join('; ') }),
    );
  return {
    own: Object.fromEntries(entries.filter(([name]) => known.has(name))),
    rest:
      others.length > 0 ? new ApiError(thrown.status, { detail: others.join(' · ') }, undefined) : undefined,
  };
}

function Input({
  field,
  value,
  told,
  set,
}: {
  readonly field: Field;
  readonly value: Value;
  readonly told: readonly string[];
  readonly set: (value: Value) => void;
}) {
  const id = useId();
  const { name, title, type = 'text', options = [], required, hint } = field;
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

const dataUri = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () =>
      resolve(String(reader.result).replace(/^data:[^,;]*/, 'data:application/octet-stream'));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
