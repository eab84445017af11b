export const intendedUsage = { idevid: 0, tls: 1, generic: 2, deviceOwnerId: 3 } as const;

export interface Truststore {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  readonly intendedUsage: number;
  /** Trust anchors, DER. */
  readonly certificates: readonly Uint8Array[];
}
