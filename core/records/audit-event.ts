export type Outcome = 'success' | 'refused' | 'failed';

/** The actor of an event: a user, a device, a service account, the service itself, or an unauthenticated requester. */
export interface Actor {
  readonly kind: 'user' | 'device' | 'serviceAccount' | 'system' | 'unknown';
  readonly id: number | null;
  readonly name: string;
  /** The address of the request; empty for the service itself. */
  readonly address: string;
}

/** An event without secrets. The caller cuts strings from unauthenticated requesters to 200 characters. */
export interface AuditEvent {
  readonly at: number;
  readonly actor: Actor;
  /** `certificate.issue`, `device.create`, … */
  readonly action: string;
  /** `certificate:17`, `domain:default`; empty if there is no object. */
  readonly object: string;
  readonly outcome: Outcome;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  /** The id of the request that caused the event; null for periodic work, and for events of earlier versions. */
  readonly requestId?: string | null;
}

/**
 * An event in its audit chain. Each writing process has its own chain, so that no two processes wait for each other.
 */
export interface ChainedEvent extends AuditEvent {
  readonly id: number;
  readonly chain: string;
  /** 1, 2, 3, … within the chain. */
  readonly sequence: number;
  /** SHA-256 over the previous event's hash (32 zero octets for the first) and this event, see `chain.ts`. */
  readonly hash: Uint8Array;
  readonly requestId: string | null;
}
