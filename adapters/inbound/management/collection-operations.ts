import { type TSchema, Type } from '@sinclair/typebox';
import { nouns } from '#core/ports/nouns.ts';
import type { Kind } from '#core/ports/store.ts';
import { pendingResponse } from './deferral.ts';
import type { Description, FieldDescription } from './description.ts';
import { exportExamples, exportFormat } from './export.ts';
import { isRequired, type WriteMode } from './input.ts';
import { listParameters } from './list-query.ts';
import { type BodyDocumentation, jsonResponse, type Operation } from './route.ts';

type Fields = Readonly<Record<string, FieldDescription>>;
type Example = Readonly<Record<string, unknown>>;

/** `issuing CA` → `IssuingCa`, `DevID registration` → `DevidRegistration`: code generators change other capitals. */
const pascalCase = (words: string): string =>
  words.toLowerCase().replace(/(?:^|[^a-z0-9]+)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Returns the OpenAPI documentation of each operation of a described resource. */
export function collectionOperations<K extends Kind, Input, View>(
  description: Description<K, Input, View>,
): Record<'list' | 'read' | 'create' | 'replace' | 'change' | 'remove', Operation> {
  const {
    tag,
    kind,
    noun: [noun, many] = nouns[kind],
    fields,
    filters = {},
    conflicts = {},
    deferred,
    example,
    exported,
  } = description;
  const name = pascalCase(noun);
  const record = recordSchema(fields, true, name);
  const hasMore = Object.values(fields).some(({ detailOnly }) => detailOnly);
  const listed = hasMore ? recordSchema(fields, false, `${name}Summary`) : record;
  const a = /^(?!user)[aeiou]/i.test(noun) ? 'an' : 'a';
  const shown = shownExample(description);
  const page = jsonResponse(
    'A page of the list, newest first unless `ordering` is given.',
    Type.Array(listed),
    [pick(shown, fields, ({ detailOnly }) => !detailOnly)],
  );
  const written = pick(example, fields, ({ readOnly }) => !readOnly);
  const replaced = pick(example, fields, (field) => isWritten(field, 'replace'));
  const changed = Object.fromEntries(Object.entries(replaced).slice(0, 1));
  const differs = Object.values(fields).some(
    ({ required, createOnly }) => createOnly || required === 'create',
  );
  const replacement = differs ? `${name}Replacement` : `${name}Input`;
  const failure = (why: string | undefined) => (why === undefined ? {} : { failures: { 409: why } });
  return {
    list: {
      id: `list${pascalCase(many)}`,
      tag,
      summary: `List ${many}`,
      query: {
        ...Object.fromEntries(Object.entries(filters).map(([field, { schema }]) => [field, schema])),
        ...listParameters(fields),
        ...(exported && { format: exportFormat }),
      },
      failures: { 400: 'A query parameter is invalid.' },
      responses: {
        200: {
          ...page,
          content: { ...page.content, ...(exported && exportExamples(description)) },
          headers: { Link: '`<…>; rel="next"` is the next page, if there is one.' },
        },
      },
    },
    read: {
      id: `read${name}`,
      tag,
      summary: `Read ${a} ${noun}`,
      responses: { 200: jsonResponse(`The ${noun}.`, record, shown) },
    },
    create: {
      id: `create${name}`,
      tag,
      summary: `Create ${a} ${noun}`,
      body: bodyOf(fields, 'create', `${name}Input`, written),
      responses: {
        201: jsonResponse(`The created ${noun}.`, record, shown),
        ...(deferred !== undefined && { 202: pendingResponse(deferred) }),
      },
      ...failure(conflicts.create),
    },
    replace: {
      id: `replace${name}`,
      tag,
      summary: `Replace every writable field of ${a} ${noun}`,
      body: bodyOf(fields, 'replace', replacement, replaced),
      responses: { 200: jsonResponse(`The updated ${noun}.`, record, shown) },
      ...failure(conflicts.update),
    },
    change: {
      id: `change${name}`,
      tag,
      summary: `Change some fields of ${a} ${noun}`,
      body: bodyOf(fields, 'change', `${name}Changes`, changed),
      responses: { 200: jsonResponse(`The updated ${noun}.`, record, shown) },
      ...failure(conflicts.update),
    },
    remove: {
      id: `delete${name}`,
      tag,
      summary: `Delete ${a} ${noun}`,
      responses: { 204: { description: 'Deleted.' } },
      ...failure(conflicts.remove),
    },
  };
}

/** Returns the schema of a record as it is returned. `$id`: its name among the schemas of the OpenAPI document. */
export function recordSchema(fields: Fields, detail: boolean, $id: string): TSchema {
  const shown = Object.entries(fields).filter(
    ([, { writeOnly, detailOnly }]) => !writeOnly && (detail || !detailOnly),
  );
  const properties = shown.map(
    ([name, { schema, documented = schema, shown = documented, readOnly }]) =>
      [name, readOnly ? { ...shown, readOnly } : shown] as const,
  );
  return Type.Object(Object.fromEntries(properties), { $id, additionalProperties: false });
}

export function inputSchema(fields: Fields, mode: WriteMode, $id: string): TSchema {
  const written = Object.entries(fields).filter(([, field]) => isWritten(field, mode));
  const properties = written.map(([name, field]) => {
    const { schema, documented = schema, writeOnly } = field;
    const property = writeOnly ? { ...documented, writeOnly } : documented;
    return [name, isRequired(field, mode) ? property : Type.Optional(property)] as const;
  });
  return Type.Object(Object.fromEntries(properties), { $id, additionalProperties: false });
}

/** A body without a required member need not be sent at all. */
const bodyOf = (fields: Fields, mode: WriteMode, $id: string, example: Example): BodyDocumentation => ({
  schema: inputSchema(fields, mode, $id),
  example,
  ...(!Object.values(fields).some((field) => isRequired(field, mode)) && { optional: true }),
});

const isWritten = ({ readOnly, createOnly }: FieldDescription, mode: WriteMode): boolean =>
  !readOnly && (mode === 'create' || !createOnly);

/** Returns the example of a description as a response shows it. */
export const shownExample = ({
  fields,
  example,
}: {
  readonly fields: Fields;
  readonly example: Example;
}): Example => pick(example, fields, ({ writeOnly }) => !writeOnly);

function pick(example: Example, fields: Fields, included: (field: FieldDescription) => boolean): Example {
  return Object.fromEntries(
    Object.entries(example).filter(([name]) => fields[name] !== undefined && included(fields[name])),
  );
}
