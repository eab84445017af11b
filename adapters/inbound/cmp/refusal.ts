import type { Failure, PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import { Fault, type FaultCode, toFault } from '#core/fault.ts';

/** A refusal by CMP itself, with its bit of PKIFailureInfo. The client sees the message. `cause`: the Fault of the core, if any. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly failure: Failure;

  constructor(failure: Failure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
  }
}

/** Rejects a message of an unknown transaction. */
export const noTransaction = (): Refusal =>
  new Refusal(
    'badRequest',
    'there is no transaction with this transactionID: it was never opened, or it has expired',
  );

/** Whether the core does not know of the refusal: the message broke a rule of CMP, or it could not be parsed. */
export const isUnknownToCore = (error: unknown): boolean =>
  error instanceof Refusal
    ? error.cause === undefined
    : error instanceof Fault && (error.code === 'malformed' || error.code === 'badAlgorithm');

/** The bit of PKIFailureInfo (RFC 9810 §5.2.3) for each code of a Fault. */
export type FailureTable = Readonly<Record<FaultCode, Failure>>;

/**
 * The failures of a request that could be parsed, by the meanings of the bits (RFC 9810 §5.2.3) and by what a client does next
 * (RFC 9483 §3.6.4): it starts another transaction after transactionIdInUse, at once, and after systemUnavail and
 * systemFailure, later.
 */
export const failures = {
  malformed: 'badDataFormat',
  badCsr: 'badCertTemplate',
  badProof: 'badPOP',
  badAlgorithm: 'badAlg',
  // A wrong MAC (RFC 9483 §3.5). A certificate that is not trusted is signerNotTrusted.
  unauthenticated: 'badMessageCheck',
  forbidden: 'notAuthorized',
  // An unknown domain or profile, for which there is no bit of its own. An unknown certificate is badCertId.
  notFound: 'badRequest',
  // A certificate that is revoked or confirmed already is certRevoked or certConfirmed.
  conflict: 'badRequest',
  replayed: 'transactionIdInUse',
  unsupported: 'badRequest',
  // A later attempt succeeds.
  tooManyRequests: 'systemUnavail',
  unavailable: 'systemUnavail',
  internal: 'systemFailure',
} as const satisfies FailureTable;

/** Returns the PKIStatusInfo for whatever was thrown. A defect of Postern shows no details. */
export function refusalStatus(error: unknown, table: FailureTable = failures): PkiStatusInfo {
  if (error instanceof Refusal) {
    return { status: 'rejection', statusString: [error.message], failInfo: [error.failure] };
  }
  const { code, detail, hint } = toFault(error);
  const statusString = hint === undefined ? [detail] : [detail, hint];
  return { status: 'rejection', statusString, failInfo: [table[code]] };
}

/** Tells whether the request itself is invalid, rather than its timing or this service. */
export function isOfRequest(error: unknown): boolean {
  if (error instanceof Refusal) return true;
  return error instanceof Fault && !notOfRequest.has(error.code);
}

/** Tells whether the rules of the service decide, which may change, rather than the request alone. */
export const mayBeGrantedLater = (error: unknown): boolean =>
  error instanceof Fault && isOfRequest(error) && error.code !== 'malformed' && error.code !== 'badProof';

const notOfRequest: ReadonlySet<FaultCode> = new Set(['internal', 'unavailable', 'replayed']);

/** Whether the error is to be logged: neither a Refusal nor a Fault that the sender caused. */
export const isDefect = (error: unknown): boolean =>
  !(error instanceof Refusal) && (!(error instanceof Fault) || error.code === 'internal');
