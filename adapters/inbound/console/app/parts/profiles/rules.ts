/** Rules of a profile as somebody types them: anything may stand anywhere, so each member is looked at before it is used. */
export type Rules = Readonly<Record<string, unknown>>;

export const membersOf = (of: unknown): Rules =>
  typeof of === 'object' && of !== null && !Array.isArray(of) ? (of as Rules) : {};

/** One text, or those of a list. */
export const textsOf = (of: unknown): readonly string[] =>
  typeof of === 'string' ? [of] : Array.isArray(of) ? of.filter((one) => typeof one === 'string') : [];

export const memberAt = (of: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((within, name) => membersOf(within)[name], of);

/** The same rules with one member another; undefined takes it away. */
export function withMember(of: unknown, [name, ...rest]: readonly string[], value: unknown): Rules {
  const { [name!]: before, ...others } = membersOf(of);
  const after = rest.length === 0 ? value : withMember(before, rest, value);
  if (after === undefined) return others;
  return name! in membersOf(of)
    ? Object.fromEntries(Object.entries(membersOf(of)).map(([key, one]) => [key, key === name ? after : one]))
    : { ...others, [name!]: after };
}

/** Changes the member at a path, or takes it away. */
export type SetMember = (path: readonly string[], value: unknown) => void;

/** Of a part of a form about rules. */
export interface RulesPart {
  readonly rules: Rules;
  readonly set: SetMember;
}

/** Where a value of a JSON text stands, from the name of its member on. */
interface Place {
  readonly path: readonly string[];
  readonly start: number;
  readonly end: number;
}

/** The values of a JSON text, the outer before the inner; of a text that breaks off, those before. */
function placesIn(text: string): readonly Place[] {
  const found: Place[] = [];
  let at = 0;
  const token = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const [matched] = pattern.exec(text) ?? [];
    if (matched !== undefined) at += matched.length;
    return matched;
  };
  const sign = (one: string): boolean => {
    token(/\s*/y);
    if (text[at] !== one) return false;
    at++;
    return true;
  };
  const value = (path: readonly string[], start: number): boolean => {
    const place = { path, start, end: text.length };
    found.push(place);
    const isObject = sign('{');
    if (isObject || sign('[')) {
      const close = isObject ? '}' : ']';
      for (let n = 0; !sign(close); n++) {
        if (n > 0 && !sign(',')) return false;
        token(/\s*/y);
        const from = at;
        const name = isObject ? nameOf(token(/"(?:[^"\\]|\\.)*"/y)) : String(n);
        if (name === undefined || (isObject && !sign(':'))) return false;
        token(/\s*/y);
        if (!value([...path, name], from)) return false;
      }
    } else if (token(/"(?:[^"\\]|\\.)*"|[-+.\w]+/y) === undefined) return false;
    place.end = at;
    return true;
  };
  token(/\s*/y);
  value([], at);
  return found;
}

function nameOf(token: string | undefined): string | undefined {
  try {
    return token === undefined ? undefined : (JSON.parse(token) as string);
  } catch {
    return undefined;
  }
}

/** Where a JSON pointer (RFC 6901) leads to, or as far as it goes. */
export function placeOf(text: string, pointer: string): Place | undefined {
  const wanted = pointer
    .split('/')
    .slice(1)
    .map((one) => one.replaceAll('~1', '/').replaceAll('~0', '~'));
  return placesIn(text)
    .filter(({ path }) => path.every((name, n) => name === wanted[n]))
    .sort((a, b) => b.path.length - a.path.length)[0];
}

/** The members at the end of which this position is. */
export const pathAt = (text: string, position: number): readonly string[] =>
  placesIn(text).findLast(({ start, end }) => start <= position && position <= end)?.path ?? [];

/** What a JSON Schema says of a member: its own words, and what may stand in it. */
export function schemaAt(
  schema: unknown,
  path: readonly string[],
): { readonly description: string | undefined; readonly members: readonly string[] } | undefined {
  const [name, ...rest] = path;
  if (name === undefined) {
    const { description, properties, anyOf, items } = membersOf(schema);
    const choices = (Array.isArray(anyOf) ? anyOf : []).map((one) => membersOf(one).const);
    const inItems = membersOf(items).anyOf;
    const ofItems = (Array.isArray(inItems) ? inItems : []).map((one) => membersOf(one).const);
    return {
      description: typeof description === 'string' ? description : undefined,
      members: [...Object.keys(membersOf(properties)), ...choices, ...ofItems].filter(
        (one) => typeof one === 'string',
      ),
    };
  }
  const { properties, patternProperties, items } = membersOf(schema);
  const known = membersOf(properties);
  if (Object.hasOwn(known, name)) return schemaAt(known[name], rest);
  if (items !== undefined) return schemaAt(items, rest);
  const [any] = Object.values(membersOf(patternProperties));
  return any === undefined ? undefined : schemaAt(any, rest);
}
