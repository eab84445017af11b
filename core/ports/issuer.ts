import type { Prepared } from '../ca/prepared.ts';
import type { Health } from './platform.ts';

/** What an issuer makes of a request. `chain` leads from the certificate's issuer upwards, DER. */
export type IssuerAnswer =
  | { readonly kind: 'issued'; readonly certificate: Uint8Array; readonly chain: readonly Uint8Array[] }
  | { readonly kind: 'pending'; readonly handle: string; readonly retryAfter: number };

/**
 * Signs certificates: our own CA, or an upstream one. Answers `issued` or `pending`; throws on final errors only
 * and never retries: retry belongs to the engine. Faults: unavailable (try again), badCsr, badAlgorithm, forbidden
 * (refused by the upstream), unsupported.
 */
export interface Issuer {
  /** Signs inside this process: the intent and the certificate may share a transaction. */
  readonly inProcess?: boolean;
  /** CA certificates from the issuing one up to its root, DER. */
  chain(signal?: AbortSignal): Promise<readonly Uint8Array[]>;
  issue(prepared: Prepared, signal?: AbortSignal): Promise<IssuerAnswer>;
  /** Asks again for what was pending. Absent where nothing ever is. */
  poll?(handle: string, signal?: AbortSignal): Promise<IssuerAnswer>;
  health(): Promise<Health>;
}
