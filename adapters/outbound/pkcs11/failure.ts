import { ckr } from './cryptoki.ts';
import type { Failure } from './messages.ts';

/** A failure of the token, or of the process that holds its module. */
export class TokenFailure extends Error {
  override readonly name = 'TokenFailure';
  readonly kind: Failure['kind'];
  readonly code: number | undefined;

  constructor(kind: Failure['kind'], detail: string, code?: number) {
    super(detail);
    this.kind = kind;
    this.code = code;
  }
}

/** Return values for a token, a session or a module that is gone. A new process may find it again. */
const gone: ReadonlySet<number> = new Set([
  ckr.hostMemory,
  ckr.slotIdInvalid,
  ckr.generalError,
  ckr.functionFailed,
  ckr.deviceError,
  ckr.deviceMemory,
  ckr.deviceRemoved,
  ckr.sessionClosed,
  ckr.sessionHandleInvalid,
  ckr.tokenNotPresent,
  ckr.tokenNotRecognized,
  ckr.userNotLoggedIn,
  ckr.cryptokiNotInitialized,
]);

/** Returns whether the connection is lost. */
export const isLoss = (failure: TokenFailure): boolean =>
  failure.kind === 'ended' ||
  failure.kind === 'late' ||
  failure.kind === 'vanished' ||
  (failure.kind === 'cryptoki' && failure.code !== undefined && gone.has(failure.code));

const pinCodes: ReadonlySet<number> = new Set([
  ckr.pinIncorrect,
  ckr.pinInvalid,
  ckr.pinLenRange,
  ckr.pinExpired,
  ckr.pinLocked,
]);

/** Returns whether the token rejected the PIN itself. */
export const isWrongPin = (failure: unknown): boolean =>
  failure instanceof TokenFailure && failure.code !== undefined && pinCodes.has(failure.code);

const notOffered: ReadonlySet<number> = new Set([
  ckr.attributeValueInvalid,
  ckr.functionNotSupported,
  ckr.keySizeRange,
  ckr.mechanismInvalid,
  ckr.mechanismParamInvalid,
  ckr.curveNotSupported,
]);

/** Returns whether the token does not support the operation. */
export const isNotOffered = ({ code }: TokenFailure): boolean => code !== undefined && notOffered.has(code);
