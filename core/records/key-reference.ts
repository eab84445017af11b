/** Names a private key: the key store it is in (its name in the configuration) and its id there. */
export interface KeyReference {
  readonly store: string;
  readonly id: string;
  /** It was there before this service knew of it: whoever put it there has it destroyed, not this service. */
  readonly found?: true;
}
