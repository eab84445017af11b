import type { Permission } from '../access/permissions.ts';
import { type Principal, readsOf } from '../access/principal.ts';
import type { Ports } from '../ports/ports.ts';
import type { Kind, Records } from '../ports/store.ts';
import type { ChainedEvent } from '../records/audit-event.ts';

/** Where the name of a record is found, and the permission to see it. */
interface Naming<K extends Kind> {
  readonly needs: Permission;
  readonly name: (record: Records[K]) => string;
}

const namings: { readonly [K in Kind]?: Naming<K> } = {
  approval: { needs: 'approvals.read', name: ({ subject }) => subject },
  approvalPolicy: { needs: 'approvals.read', name: ({ uniqueName }) => uniqueName },
  backup: { needs: 'backups.read', name: ({ remoteDirectory }) => remoteDirectory },
  certificate: { needs: 'certificates.read', name: ({ commonName }) => commonName },
  credential: { needs: 'credentials.read', name: ({ uniqueName }) => uniqueName },
  device: { needs: 'devices.read', name: ({ commonName }) => commonName },
  deviceImport: { needs: 'devices.read', name: ({ fileName }) => fileName },
  devidRegistration: { needs: 'registrations.read', name: ({ uniqueName }) => uniqueName },
  domain: { needs: 'domains.read', name: ({ uniqueName }) => uniqueName },
  issuingCa: { needs: 'cas.read', name: ({ uniqueName }) => uniqueName },
  profile: { needs: 'profiles.read', name: ({ uniqueName }) => uniqueName },
  role: { needs: 'accounts.read', name: ({ uniqueName }) => uniqueName },
  serviceAccount: { needs: 'accounts.read', name: ({ uniqueName }) => uniqueName },
  truststore: { needs: 'truststores.read', name: ({ uniqueName }) => uniqueName },
  user: { needs: 'accounts.read', name: ({ username }) => username },
  webhook: { needs: 'webhooks.read', name: ({ uniqueName }) => uniqueName },
};

/** An event with the current name of the record that it concerns. */
export interface NamedEvent extends ChainedEvent {
  /** Null if the record no longer exists, or if the account may not see it. */
  readonly objectName: string | null;
}

/** Looks up the names of the records that events are about: one query for each kind of record. */
export async function withObjectNames(
  context: Pick<Ports, 'log' | 'store'>,
  principal: Principal,
  events: readonly ChainedEvent[],
): Promise<readonly NamedEvent[]> {
  const wanted = Map.groupBy(
    events.flatMap(({ object }) => {
      const [, kind = '', id = ''] = /^([A-Za-z]+):(\d{1,15})$/.exec(object) ?? [];
      return Object.hasOwn(namings, kind) ? [{ kind: kind as Kind, id: Number(id) }] : [];
    }),
    ({ kind }) => kind,
  );
  const names = new Map<string, string>();
  for (const [kind, objects] of wanted) {
    const naming = namings[kind] as Naming<Kind> | undefined;
    if (!naming || !principal.permissions.has(naming.needs)) continue;
    const ids = [...new Set(objects.map(({ id }) => id))];
    const { records } = await readsOf(context, principal).list(kind, {
      where: [{ field: 'id', is: 'oneOf', value: ids }],
      limit: ids.length,
    });
    for (const record of records) names.set(`${kind}:${record.id}`, naming.name(record));
  }
  return events.map((event) => ({ ...event, objectName: names.get(event.object) ?? null }));
}
