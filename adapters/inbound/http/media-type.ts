/** The media type of a Content-Type field, lower-case, without parameters (RFC 9110 §8.3.1). */
export function mediaType(contentType: string): string {
  const end = contentType.indexOf(';');
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}
