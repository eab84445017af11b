/** TypeScript source with blanks for what is not code, every character at its place. */
interface SourceText {
  /** Plain strings are still there. */
  readonly withStrings: string;
  /** Of plain strings only the quotes. */
  readonly code: string;
}

const beforeRegExp =
  /(?:^|[(,=:[!&|?{};+\-*%<>~^\n]|=>|\b(?:return|typeof|case|in|of|do|else|yield|await|throw))\s*$/;

/** Takes comments, strings, regular expressions and the text of templates out; expressions inside templates stay. */
export function sourceText(source: string): SourceText {
  let withStrings = '';
  let code = '';
  let at = 0;
  const keep = (text: string): void => {
    withStrings += text;
    code += text;
    at += text.length;
  };
  const gone = (length: number): void => {
    const breaks = source.slice(at, at + length).replace(/[^\n]/g, ' ');
    withStrings += breaks;
    code += breaks;
    at += length;
  };
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  // For every template that is open: how many braces are open inside its current expression.
  const templates: number[] = [];
  const templateText = (): void => {
    gone(match(/(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y)?.length ?? 0);
    if (source.startsWith('${', at)) {
      gone(2);
      templates.push(0);
    } else gone(1);
  };
  /** A comment or a regular expression; a division is code. */
  const slash = (): void => {
    const comment = match(/\/\/.*|\/\*[\s\S]*?\*\//y);
    const regExp =
      !comment &&
      beforeRegExp.test(code.slice(-20)) &&
      match(/\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y);
    const other = comment || regExp;
    if (other) gone(other.length);
    else keep('/');
  };
  const quote = (): void => {
    const string = match(/'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y);
    if (!string) {
      keep(source[at]!);
      return;
    }
    withStrings += string;
    code += string[0] + ' '.repeat(string.length - 2) + string[0];
    at += string.length;
  };
  const brace = (step: 1 | -1): void => {
    if (step === -1 && templates.at(-1) === 0) {
      templates.pop();
      gone(1);
      templateText();
      return;
    }
    if (templates.length > 0) templates[templates.length - 1]! += step;
    keep(source[at]!);
  };
  while (at < source.length) {
    switch (source[at]) {
      case '/':
        slash();
        break;
      case "'":
      case '"':
        quote();
        break;
      case '`':
        gone(1);
        templateText();
        break;
      case '{':
        brace(1);
        break;
      case '}':
        brace(-1);
        break;
      default:
        keep(match(/[^/'"`{}]+/y)!);
    }
  }
  return { withStrings, code };
}
