import { Fault } from '#core/fault.ts';

const deepest = 32;
const utf8 = new TextDecoder('utf-8', { fatal: true });

const notJson = (cause: unknown): Fault => new Fault('malformed', 'the body is not JSON in UTF-8', { cause });

/** Reads a request body that is JSON in UTF-8. Faults: malformed, also for what `parseJson` refuses. */
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
 * Parses JSON. Parsers disagree about which of two members with the same name counts (RFC 8259 §4), so a second one is refused, as
 * are more than 32 levels. Faults: malformed.
 */
export function parseJson(text: string): unknown {
  try {
    demandStrict(text);
    return JSON.parse(text);
  } catch (error) {
    throw error instanceof Fault ? error : notJson(error);
  }
}

/** One pass over the text, before anything is built from it. Whether it is JSON at all is for the parser to say. */
function demandStrict(text: string): void {
  /** For each open bracket: the names in that object so far, or undefined for an array. */
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
        if (open.length === deepest) throw new Fault('malformed', `at most ${deepest} levels are allowed`);
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

/** The index of the quotation mark that ends the string, or the text's length if nothing does. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}

/** `quoted`: as it stands in the text. Errors: SyntaxError when it is not a JSON string. */
function addName(names: Set<string>, quoted: string): void {
  const name = quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
  if (names.has(name)) {
    const shown = JSON.stringify(name.slice(0, 100));
    throw new Fault('malformed', `the member ${shown} is given more than once`);
  }
  names.add(name);
}
