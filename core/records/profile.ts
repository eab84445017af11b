export interface CertificateProfile {
  readonly id: number;
  readonly createdAt: number;
  readonly uniqueName: string;
  /** The rules, in the language of `language.ts`; checked when they were stored. */
  readonly profile: unknown;
}
