import { timingSafeEqual } from 'node:crypto';
import { Fault } from '../fault.ts';
import type { EnrolmentRequest } from '../issuance/enrolment-request.ts';

/**
 * Checks that the request was made for this TLS connection (RFC 7030 §3.5): the challengePassword, if there is one, contains the
 * channel binding of the connection in base64. Faults: badProof.
 */
export function demandChannelBinding(
  { channelBinding }: EnrolmentRequest,
  challengePassword: string | undefined,
): void {
  if (!channelBinding || challengePassword === undefined) return;
  const binding = channelBinding();
  if (!binding) {
    throw new Fault(
      'badProof',
      'the channel binding in challengePassword cannot be checked: TLS ends at a proxy',
      {
        hint: 'leave challengePassword out, or let the proxy pass TLS through',
      },
    );
  }
  const expected = Buffer.from(binding.toBase64());
  // Some encoders end the base64 with a line break.
  const given = Buffer.from(challengePassword.trimEnd());
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new Fault('badProof', 'challengePassword is not the channel binding of this TLS connection', {
      hint: 'TLS 1.2: tls-unique (RFC 5929); TLS 1.3: tls-exporter (RFC 9266); or leave challengePassword out',
    });
  }
}
