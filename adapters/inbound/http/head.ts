/** The header of a request. */
export interface Head {
  readonly method: string;
  readonly target: string;
  readonly version: '1.0' | '1.1';
  /** Names in lower case, repeated fields joined with ', '; it has no other members. */
  readonly headers: Record<string, string | undefined>;
  /** How many field lines there are, and how many of them are Host. */
  readonly fields: number;
  readonly hosts: number;
}

/** RFC 9110 §5.6.2. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** RFC 9112 §3, with a target of anything but spaces and control characters. */
const requestLine = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) ([!-~\x80-\xff]+) HTTP\/(1\.[01])$/;
/** RFC 9110 §5.5. */
const fieldValue = /^[\t -~\x80-\xff]*$/;

export const isFieldName = (text: string): boolean => token.test(text);
export const isFieldValue = (text: string): boolean => fieldValue.test(text);

/**
 * The octets before the empty line, each a character → the header; undefined for what is none. More strictly than RFC 9112
 * §2.2 and §5 let a server be: lines end in CR LF alone, no field is folded, no space stands before a colon.
 */
export function parseHead(text: string): Head | undefined {
  const lines = text.split('\r\n');
  const [, method, target, version] = requestLine.exec(lines[0]!) ?? [];
  if (method === undefined || target === undefined) return undefined;
  const headers: Record<string, string | undefined> = Object.create(null);
  let hosts = 0;
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i]!;
    const colon = line.indexOf(':');
    if (colon < 0 || !fieldValue.test(line)) return undefined;
    const name = line.slice(0, colon).toLowerCase();
    if (!token.test(name)) return undefined;
    if (name === 'host') hosts++;
    const value = trim(line, colon + 1);
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return { method, target, version: version as Head['version'], headers, fields: lines.length - 1, hosts };
}

/** Without spaces and tabs around it (RFC 9112 §5.1). */
function trim(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start++;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

const isBlank = (character: number): boolean => character === 0x20 || character === 0x09;

/** Whether the response to it is the last of its connection (RFC 9112 §9.3). */
export function isLast({ version, headers }: Head): boolean {
  const { connection } = headers;
  return version === '1.0' || (connection !== undefined && /(?:^|,)\s*close\s*(?:,|$)/i.test(connection));
}

/** How long the body is: octets, or as many as come in chunks. A text says why nobody can tell for sure (RFC 9112 §6). */
export function framing({ version, headers, hosts }: Head): { readonly length: number | 'chunked' } | string {
  const coding = headers['transfer-encoding'];
  const length = headers['content-length'];
  if (hosts > 1 || (hosts === 0 && version !== '1.0')) return 'there has to be one Host field';
  if (coding === undefined) {
    if (length === undefined) return { length: 0 };
    return /^\d+$/.test(length) ? { length: Number(length) } : 'Content-Length is not a number';
  }
  // With both, another party on the way might frame the request otherwise.
  if (length !== undefined) return 'Content-Length and Transfer-Encoding';
  if (coding.toLowerCase() !== 'chunked' || version === '1.0') return 'Transfer-Encoding other than chunked';
  return { length: 'chunked' };
}
