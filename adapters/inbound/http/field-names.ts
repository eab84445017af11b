/** Field names whose usual spelling is not simply a capital after each hyphen. */
const irregular = new Map([
  ['etag', 'ETag'],
  ['www-authenticate', 'WWW-Authenticate'],
]);

/**
 * Returns the usual spelling, such as `Content-Type`, of a field name in lower case. Names are case-insensitive (RFC 9110 §5.1),
 * but some EST clients compare them literally (cisco/libest: Content-Type, Content-Length, WWW-Authenticate).
 */
export const usualSpelling = (name: string): string =>
  irregular.get(name) ?? name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
