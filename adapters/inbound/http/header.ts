/** The fields of a request under their names in lower case. */
export type Header = Record<string, string | undefined>;

/** Fields that there is one of, or none: to take one of two is to let the sender choose which one each reader sees. */
const single: ReadonlySet<string> = new Set(['host', 'authorization', 'content-type', 'expect']);

/** Names as most clients write them, and in lower case: to look one up is quicker than to write it anew. */
const lowerCase = new Map(
  [
    'Accept',
    'Accept-Encoding',
    'Authorization',
    'Connection',
    'Content-Length',
    'Content-Transfer-Encoding',
    'Content-Type',
    'Cookie',
    'Host',
    'User-Agent',
  ].flatMap((name) => [name, name.toLowerCase()].map((written) => [written, name.toLowerCase()])),
);

/** `fields`: names and values in turn. Repeated ones become one (RFC 9110 §5.3); or what is wrong with them. */
export function headerOf(fields: readonly string[]): Header | string {
  const header: Header = Object.create(null);
  for (let i = 0; i < fields.length; i += 2) {
    const name = lowerCase.get(fields[i]!) ?? fields[i]!.toLowerCase();
    const value = fields[i + 1]!;
    const before = header[name];
    if (before === undefined) header[name] = value;
    else if (single.has(name)) return `there can be only one field ${name}`;
    else header[name] = `${before}${name === 'cookie' ? ';' : ','} ${value}`;
  }
  return header;
}
