import { useShared } from '../../data.ts';
import type { Device, Named } from '../../records.ts';
import { may } from '../../session.ts';
import { Absent, Text } from './text.tsx';

/** What another record is called, where it can be seen: a link to it, or else its number. */
function Reference({
  of,
  collection,
  page,
  needs,
}: {
  readonly of: number | null;
  /** `/api/domains/` */
  readonly collection: string;
  /** `/domains` */
  readonly page: string;
  readonly needs: string;
}) {
  const { data } = useShared<readonly Named[]>(may(needs) ? `${collection}?limit=1000` : undefined);
  if (of === null) return <Absent />;
  const name = data?.find(({ id }) => id === of)?.unique_name;
  if (!may(needs)) return <>{of}</>;
  return <a href={`${page}/${of}`}>{name === undefined ? `#${of}` : <Text of={name} />}</a>;
}

export const DomainOf = ({ id }: { readonly id: number | null }) => (
  <Reference of={id} collection="/api/domains/" page="/domains" needs="domains.read" />
);

export const CaOf = ({ id }: { readonly id: number | null }) => (
  <Reference of={id} collection="/api/issuing-cas/" page="/cas" needs="cas.read" />
);

export const ProfileOf = ({ id }: { readonly id: number | null }) => (
  <Reference of={id} collection="/api/cert-profiles/" page="/profiles" needs="profiles.read" />
);

export const TruststoreOf = ({ id }: { readonly id: number | null }) => (
  <Reference of={id} collection="/api/truststores/" page="/truststores" needs="truststores.read" />
);

export const RoleOf = ({ id }: { readonly id: number | null }) => (
  <Reference of={id} collection="/api/roles/" page="/roles" needs="accounts.read" />
);

/** There may be a hundred thousand devices: asked for one by one. */
export function DeviceOf({ id }: { readonly id: number | null }) {
  const isSeen = may('devices.read');
  const { data } = useShared<Device>(isSeen && id !== null ? `/api/devices/${id}/` : undefined);
  if (id === null) return <Absent />;
  if (!isSeen) return <>{id}</>;
  return <a href={`/devices/${id}`}>{data ? <Text of={data.common_name} /> : `#${id}`}</a>;
}

/** There may be a million: by their numbers. */
export function CertificateOf({ id }: { readonly id: number | null }) {
  if (id === null) return <Absent />;
  return may('certificates.read') ? <a href={`/certificates/${id}`}>#{id}</a> : <span>{id}</span>;
}

/** Records to choose from, by name; `filter`: `intended_usage=0`. */
export function useChoices(
  collection: string,
  needs: string,
  filter?: string,
): readonly (readonly [number, string])[] {
  const path = `${collection}?limit=1000${filter === undefined ? '' : `&${filter}`}`;
  const { data } = useShared<readonly Named[]>(may(needs) ? path : undefined);
  return (data ?? []).map(({ id, unique_name }) => [id, unique_name] as const);
}
