import { Fault } from '#core/fault.ts';

const maxDepth = 32;
const utf8 = new TextDecoder('utf-8', { fatal: true });

const notJson = (cause: unknown): Fault => new Fault('malformed', 'the body is not JSON in UTF-8', { cause });

/** Reads a request body that is JSON in UTF-8. Throws Fault `malformed`, also where `parseJson` does. */
export function readJson(body: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch (cause) {
    throw notJson(cause);
  }
  return parseJson(text);
}

/**
 * Parses JSON. Throws Fault `malformed` for anything else, for more than 32 levels, and for two members with the same name:
 * parsers disagree about which of the two counts (RFC 8259 §4).
 */
export function parseJson(text: string): unknown {
  try {
    requireStrict(text);
    return JSON.parse(text);
  } catch (error) {
    throw error instanceof Fault ? error : notJson(error);
  }
}

/** Checks depth and member names in one pass before the text is parsed. It does not check that the text is JSON. */
function requireStrict(text: string): void {
  /** For each open bracket: the member names of that object so far, or undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  let nameFollows = false;
  for (let i = 0; i < text.length; i++) {
    switch (text[i]) {
      case '"': {
        const end = endOfString(text, i);
        if (nameFollows) addName(open.at(-1)!, text.slice(i, end + 1));
        nameFollows = false;
        i = end;
        break;
      }
      case '{':
      case '[':
        if (open.length === maxDepth)
          throw new Fault('malformed', `JSON may be nested at most ${maxDepth} levels deep`);
        nameFollows = text[i] === '{';
        open.push(nameFollows ? new Set() : undefined);
        break;
      case '}':
      case ']':
        open.pop();
        nameFollows = false;
        break;
      case ',':
        nameFollows = open.at(-1) !== undefined;
        break;
    }
  }
}

/** Returns the index of the closing quotation mark, or the length of the text if there is none. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}

/** `quoted`: the name as written, with quotation marks and escapes. Throws SyntaxError when it is not a JSON string. */
function addName(names: Set<string>, quoted: string): void {
  const name = quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
  if (names.has(name)) {
    const shown = JSON.stringify(name.slice(0, 100));
    throw new Fault('malformed', `the member ${shown} appears more than once`);
  }
  names.add(name);
}
