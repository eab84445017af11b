/** The fields of a request by their names in lower case. */
export type Header = Record<string, string | undefined>;

/** Fields that may appear once: with two of them, a proxy and Postern might each read another one. */
const single: ReadonlySet<string> = new Set(['host', 'authorization', 'content-type', 'expect']);

/** Frequent names in the usual spelling and in lower case: a look-up is faster than `toLowerCase`. */
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

/**
 * Returns the fields by name, or the text of an error. `fields` alternates names and values. Repeated fields are joined into a
 * list (RFC 9110 §5.3).
 */
export function headerOf(fields: readonly string[]): Header | string {
  const header: Header = Object.create(null);
  for (let i = 0; i < fields.length; i += 2) {
    const name = lowerCase.get(fields[i]!) ?? fields[i]!.toLowerCase();
    const value = fields[i + 1]!;
    const before = header[name];
    if (before === undefined) header[name] = value;
    else if (single.has(name)) return `the field ${name} must not be repeated`;
    else header[name] = `${before}${name === 'cookie' ? ';' : ','} ${value}`;
  }
  return header;
}

/** The media type of a Content-Type field, lower-case, without parameters (RFC 9110 §8.3.1). */
export function mediaType(contentType: string): string {
  const end = contentType.indexOf(';');
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}
