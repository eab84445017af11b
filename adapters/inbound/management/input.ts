import type { Body } from './body.ts';
import { camelCase, type FieldDescription } from './description.ts';
import { maxProblems, ValidationError } from './errors.ts';
import { checkValue, fromForm, repeated } from './fields.ts';

export type WriteMode = 'create' | 'replace' | 'change';

/**
 * Turns a body into input for the core. Throws one ValidationError that lists all problems. PUT (`replace`) fills in omitted
 * members; PATCH (`change`) changes only the given ones.
 */
export function readInput(
  fields: Readonly<Record<string, FieldDescription>>,
  { members, isForm }: Body,
  mode: WriteMode,
): Readonly<Record<string, unknown>> {
  // Without a prototype, because a member may have the name `__proto__`.
  const errors: Record<string, readonly string[]> = Object.create(null);
  const codes: Record<string, string> = Object.create(null);
  const refuse = (name: string, code: string, message: string): void => {
    errors[name] = [message];
    codes[name] = code;
  };
  const input: Record<string, unknown> = {};
  const unknown = Object.keys(members).filter((name) => !Object.hasOwn(fields, name));
  for (const name of unknown.slice(0, maxProblems + 1))
    refuse(name.slice(0, 100), 'unknown_field', 'unknown field');
  for (const [name, field] of Object.entries(fields)) {
    if (field.readOnly) continue;
    if (field.createOnly && mode !== 'create') {
      if (field.writeOnly && Object.hasOwn(members, name))
        refuse(name, 'create_only', 'this field can be set only on creation');
      continue;
    }
    const target = field.record ?? camelCase(name);
    if (!Object.hasOwn(members, name)) {
      if (isRequired(field, mode)) refuse(name, 'required', 'this field is required');
      else if (mode === 'replace' && 'whenMissing' in field) input[target] = field.whenMissing;
      continue;
    }
    const given = isForm ? fromForm(field.schema, members[name]) : members[name];
    const checked =
      given === repeated
        ? { messages: ['this field appears more than once'] }
        : checkValue(field.schema, given);
    if ('messages' in checked) errors[name] = checked.messages;
    else input[target] = field.toInput ? field.toInput(checked.value) : checked.value;
  }
  if (Object.keys(errors).length > 0) throw new ValidationError(errors, codes);
  return input;
}

export const isRequired = ({ required }: Pick<FieldDescription, 'required'>, mode: WriteMode): boolean =>
  mode === 'create' ? required !== undefined && required !== false : mode === 'replace' && required === true;
