export type Outcome = 'success' | 'refused' | 'failed';

/** Who did it: a user, a device, a service account, the service itself, or somebody who did not prove who they are. */
export interface Actor {
  readonly kind: 'user' | 'device' | 'serviceAccount' | 'system' | 'unknown';
  readonly id: number | null;
  readonly name: string;
  /** Where the request came from; empty for the service itself. */
  readonly address: string;
}

/** What happened. No secrets. Strings that a stranger sent are cut to 200 characters before they come here. */
export interface AuditEvent {
  readonly at: number;
  readonly actor: Actor;
  /** `certificate.issue`, `device.create`, … */
  readonly action: string;
  /** `certificate:17`, `domain:default`; empty when there is none. */
  readonly object: string;
  readonly outcome: Outcome;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
}

/** An event in its chain. There is one chain per writing process, so that no two wait for each other. */
export interface ChainedEvent extends AuditEvent {
  readonly id: number;
  readonly chain: string;
  /** 1, 2, 3, … within the chain. */
  readonly sequence: number;
  /** SHA-256 over the previous event's hash (32 zero octets for the first) and this event, see `chain.ts`. */
  readonly hash: Uint8Array;
}
