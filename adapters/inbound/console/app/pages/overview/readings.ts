import { isoDay } from '../../language.ts';

/** Figures as the API has them. */
export interface Expiry {
  readonly days: readonly { readonly begins: string; readonly count: number; readonly is_capped: boolean }[];
  readonly active: number;
  readonly expired: number;
  readonly revoked: number;
  readonly expiring_in_7_days: number;
  readonly expiring_in_30_days: number;
}

export interface Issuance {
  readonly days: readonly {
    readonly begins: string;
    readonly by_protocol: Readonly<Record<string, number>>;
  }[];
  readonly by_domain: readonly { readonly domain: number | null; readonly count: number }[];
  readonly by_profile: readonly { readonly cert_profile: number | null; readonly count: number }[];
}

export interface Failures {
  readonly total: number;
  readonly events: readonly { readonly action: string; readonly outcome: string; readonly count: number }[];
}

/** The minute so many hours ago, in the reader's time zone, as a filter for times takes it. */
export function ago(hours: number): string {
  const at = new Date(Date.now() - hours * 3_600_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return encodeURIComponent(`${isoDay(at)}T${two(at.getHours())}:${two(at.getMinutes())}`);
}
