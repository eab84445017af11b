import type { Failure, PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import { Fault, type FaultCode } from '#core/fault.ts';

/**
 * The Fault code for each PKIFailureInfo bit. Failures that concern the credentials or the configuration of this gateway are
 * `unavailable`: the request is valid, and succeeds once the operator has corrected them.
 */
const meanings = {
  badAlg: 'badAlgorithm',
  badMessageCheck: 'unavailable',
  badRequest: 'forbidden',
  badTime: 'unavailable',
  badCertId: 'forbidden',
  badDataFormat: 'forbidden',
  wrongAuthority: 'unavailable',
  incorrectData: 'badCsr',
  missingTimeStamp: 'unavailable',
  badPOP: 'badCsr',
  certRevoked: 'forbidden',
  certConfirmed: 'forbidden',
  wrongIntegrity: 'unavailable',
  badRecipientNonce: 'forbidden',
  timeNotAvailable: 'unavailable',
  unacceptedPolicy: 'badCsr',
  unacceptedExtension: 'badCsr',
  addInfoNotAvailable: 'badCsr',
  badSenderNonce: 'forbidden',
  badCertTemplate: 'badCsr',
  signerNotTrusted: 'unavailable',
  transactionIdInUse: 'forbidden',
  unsupportedVersion: 'unavailable',
  notAuthorized: 'forbidden',
  systemUnavail: 'unavailable',
  systemFailure: 'unavailable',
  duplicateCertReq: 'forbidden',
} as const satisfies Readonly<Record<Failure, FaultCode>>;

const gatewayFailures: readonly Failure[] = ['badMessageCheck', 'signerNotTrusted', 'wrongIntegrity'];
/** Failures that, for a nested message, concern the device: they say nothing about other devices. */
const deviceFailures: readonly Failure[] = [
  ...gatewayFailures,
  'badTime',
  'missingTimeStamp',
  'wrongAuthority',
  'unsupportedVersion',
];

/**
 * Returns the Fault for a rejection (RFC 9810 §5.2.3), with the printable part of its statusString. A rejection without
 * failInfo is final. `nested`: the transaction was opened by the message of a device.
 */
export function refusal({ failInfo = [], statusString = [] }: PkiStatusInfo, nested = false): Fault {
  const why = failInfo.length > 0 ? ` (${failInfo.slice(0, 4).join(', ')})` : '';
  const said = statusString
    .join('; ')
    .slice(0, 400)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, 150);
  const text = said === '' ? '' : `: ${said}`;
  const of = (code: FaultCode) => failInfo.some((failure) => meanings[failure] === code);
  if (failInfo.includes('transactionIdInUse')) {
    // The first request may still be in progress, or its response lost. A certificate issued for it is never confirmed.
    return new Fault(
      'forbidden',
      'the upstream CA has already processed this request, but its response was lost',
    );
  }
  if (nested && failInfo.some((failure) => deviceFailures.includes(failure)))
    return new Fault('forbidden', `the upstream CA rejects the message of the device${why}${text}`);
  if (failInfo.some((failure) => gatewayFailures.includes(failure)))
    return new Fault('unavailable', `the upstream CA rejects the credentials of this gateway${why}`);
  const detail = `the upstream CA rejected the request${why}${text}`;
  for (const code of ['unavailable', 'badAlgorithm', 'badCsr'] as const)
    if (of(code)) return new Fault(code, detail);
  return new Fault('forbidden', detail);
}
