/** The methods of RFC 9110 §9.3 and PATCH (RFC 5789). The response to any other method is 501. */
export const knownMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
]);

/** The methods that at least one resource allows: the Allow field of a response that concerns no single resource. */
export const allowedSomewhere = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
