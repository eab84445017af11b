/** Usual spellings that are more than a capital after each hyphen. */
const irregular = new Map([
  ['etag', 'ETag'],
  ['www-authenticate', 'WWW-Authenticate'],
]);

/**
 * The usual spelling of a field name in lower case: `Content-Type`. Names are case-insensitive (RFC 9110 §5.1), but EST clients
 * in the field compare them literally (cisco/libest: Content-Type, Content-Length, WWW-Authenticate).
 */
export const usualSpelling = (name: string): string =>
  irregular.get(name) ?? name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
