import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, type FieldErrors } from '../../api.ts';
import { messages } from '../../language.ts';
import { words } from '../../words.ts';
import { Problem } from '../display/answer.tsx';
import { type Field, Input, type Value, type Values } from './input.tsx';

const m = messages(
  {
    isRequired: 'This field is required.',
    notNumber: 'Enter a whole number.',
    notTheName: 'This is not the name.',
    unknownField: '{name}: {told}',
  },
  {
    isRequired: 'Dieses Feld ist erforderlich.',
    notNumber: 'Geben Sie eine ganze Zahl ein.',
    notTheName: 'Das ist nicht der Name.',
    unknownField: '{name}: {told}',
  },
);

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
  look = 'main',
  send,
  cancel,
  children,
}: {
  readonly fields: readonly Field[];
  /** On the button. */
  readonly action: string;
  readonly look?: 'main' | 'danger';
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
          hint={typeof field.hint === 'function' ? field.hint(values) : field.hint}
          set={(value) =>
            setValues((before) => withoutHiddenFiles(fields, { ...before, [field.name]: value }))
          }
        />
      ))}
      {children}
      {error !== undefined && <Problem error={error} />}
      <div class="buttons">
        <button type="submit" class={look} aria-disabled={busy}>
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

/** The input of a file that is no longer shown has lost it, and cannot show it again. */
function withoutHiddenFiles(fields: readonly Field[], values: Values): Values {
  const shown = new Set(fields.filter(({ when }) => when?.(values) ?? true).map(({ name }) => name));
  const hidden = fields.filter(({ name, type }) => type === 'file' && !shown.has(name));
  return { ...values, ...Object.fromEntries(hidden.map(({ name }) => [name, ''])) };
}

const emptyOf = (type: Field['type']): Value => (type === 'check' ? false : type === 'checks' ? [] : '');

const isEmpty = (value: Value): boolean =>
  value === '' || value === undefined || (Array.isArray(value) && value.length === 0);

function complaintOf({ required, type, expected }: Field, value: Value): string | undefined {
  if (expected !== undefined) return String(value).trim() === expected ? undefined : m('notTheName');
  if (isEmpty(value)) return required ? m('isRequired') : undefined;
  return type === 'number' && !/^-?\d{1,15}$/.test(String(value).trim()) ? m('notNumber') : undefined;
}

async function sent({ name, type, sendEmpty, expected }: Field, value: Value): Promise<[string, Value][]> {
  if (expected !== undefined) return [];
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

const dataUri = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () =>
      resolve(String(reader.result).replace(/^data:[^,;]*/, 'data:application/octet-stream'));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
