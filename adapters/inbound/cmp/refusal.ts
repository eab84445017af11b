import type { Failure, PkiStatusInfo } from '#adapters/wire/cmp/status.ts';
import { Fault, type FaultCode, toFault } from '#core/fault.ts';

/** What CMP itself refuses, with the bit of PKIFailureInfo for it. The message is shown. `cause`: what the core has refused. */
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
    'there is no transaction with this transactionID: it was never opened, or is no longer remembered',
  );

/** Whether it was refused here, so that the core does not know of it: by CMP's own rules, or because it cannot be read. */
export const isUnheard = (error: unknown): boolean =>
  error instanceof Refusal
    ? error.cause === undefined
    : error instanceof Fault && (error.code === 'malformed' || error.code === 'badAlgorithm');

/** RFC 9810 §5.2.3. */
export type FailureTable = Readonly<Record<FaultCode, Failure>>;

/** For a request that has been understood. */
export const failures = {
  malformed: 'badDataFormat',
  badCsr: 'badCertTemplate',
  badProof: 'badPOP',
  badAlgorithm: 'badAlg',
  unauthenticated: 'badMessageCheck',
  forbidden: 'notAuthorized',
  notFound: 'badRequest',
  conflict: 'badRequest',
  replayed: 'transactionIdInUse',
  unsupported: 'badRequest',
  tooManyRequests: 'systemUnavail',
  unavailable: 'systemUnavail',
  internal: 'systemFailure',
} as const satisfies FailureTable;

/** Whatever was thrown, as a PKIStatusInfo with words that help. A defect of ours says no more than that it is one. */
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

const notOfRequest: ReadonlySet<FaultCode> = new Set(['internal', 'unavailable', 'replayed']);

/** Whether it is for the log: neither a Refusal nor a Fault that its sender caused. */
export const isDefect = (error: unknown): boolean =>
  !(error instanceof Refusal) && (!(error instanceof Fault) || error.code === 'internal');
