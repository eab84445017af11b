import type { Failure, PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import { Fault, type FaultCode } from '#core/fault.ts';

/**
 * What a refusal means. What is about this gateway's own credentials or configuration is `unavailable`: it is for the operator, the
 * request is in order, and goes through once that is mended.
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

const ofOurs: readonly Failure[] = ['badMessageCheck', 'signerNotTrusted', 'wrongIntegrity'];
/** What may be said of a device's own message: of that of one device follows nothing for others. */
const ofTheirs: readonly Failure[] = [
  ...ofOurs,
  'badTime',
  'missingTimeStamp',
  'wrongAuthority',
  'unsupportedVersion',
];

/**
 * A rejection (RFC 9810 §5.2.3), with what of its words people can read. Without a reason it is final. `nested`: of a transaction that
 * the message of a device has opened.
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
    // What it was sent first may be under way still, or its answer lost: whatever came of it is never confirmed.
    return new Fault(
      'forbidden',
      'the upstream CA has already processed this request, but its response was lost',
    );
  }
  if (nested && failInfo.some((failure) => ofTheirs.includes(failure)))
    return new Fault('forbidden', `the upstream CA rejects the message of the device${why}${text}`);
  if (failInfo.some((failure) => ofOurs.includes(failure)))
    return new Fault('unavailable', `the upstream CA rejects the credentials of this gateway${why}`);
  const detail = `the upstream CA refused${why}${text}`;
  for (const code of ['unavailable', 'badAlgorithm', 'badCsr'] as const)
    if (of(code)) return new Fault(code, detail);
  return new Fault('forbidden', detail);
}
