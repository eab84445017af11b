import type { Fault } from '#core/fault.ts';
import { basicChallenge } from './basic-credentials.ts';

/** Seconds to wait when a Fault does not say. */
const usualRetryAfter = 60;

/** What is said of a Fault to devices. */
export const faultText = ({ detail, hint }: Fault): string =>
  hint === undefined ? detail : `${detail}; ${hint}`;

/** What goes along with a status of the enrolment protocols over HTTP: how to show who one is, when to come again. */
export function faultHeaders(status: number, { retryAfter }: Fault): Record<string, string> {
  if (status === 401) return { 'www-authenticate': basicChallenge };
  if (status === 429 || status === 503) return { 'retry-after': String(retryAfter ?? usualRetryAfter) };
  return {};
}
