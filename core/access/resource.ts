import type { AuditAction } from '../audit/actions.ts';
import { audit } from '../audit/record.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { DamagedRecord, Fault, toFault } from '../fault.ts';
import { nouns } from '../ports/nouns.ts';
import type { Ports } from '../ports/ports.ts';
import {
  configurationKinds,
  type Kind,
  newHandle,
  type Page,
  type Query,
  type Records,
  type Values,
  type Write,
} from '../ports/store.ts';
import { idOf } from '../storage/commit.ts';
import { isDamage } from '../storage/damaged-records.ts';
import { hiddenProblem } from '../x509/visible.ts';
import type { Permission } from './permissions.ts';
import { demand, type Principal, readsOf } from './principal.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'log' | 'store'>, WithConfiguration {}

/**
 * A collection of the Management API, as the adapter sees it. `Input` holds the writable fields, `View` the shown ones.
 */
export interface Resource<K extends Kind, Input, View> {
  readonly kind: K;
  list(principal: Principal, query: Query<K>): Promise<Page<View>>;
  /** Faults: notFound. */
  read(principal: Principal, id: number): Promise<View>;
  /** Faults: malformed or conflict, with `field`. */
  create(principal: Principal, input: Input): Promise<View>;
  /** Changes only the fields in `changes`. Faults: notFound, malformed or conflict with `field`. */
  update(principal: Principal, id: number, changes: Partial<Input>): Promise<View>;
  /** Faults: notFound, conflict if other records refer to this one. */
  remove(principal: Principal, id: number): Promise<void>;
}

/** The rules of one collection; `resource` adds permissions, audit and the notFound Fault. */
export interface ResourceRules<K extends Kind, Input, View> {
  readonly kind: K;
  readonly reads: Permission;
  readonly writes: Permission;
  /** Returns false for records that lists and reads hide. */
  visible?(record: Records[K]): boolean;
  /** The same condition for lists. */
  readonly shown?: NonNullable<Query<K>['where']>;
  view(record: Records[K], principal: Principal): View;
  /** Returns the record to be inserted, and the writes that precede it. Absent if records are created elsewhere. */
  create?(
    input: Input,
    principal: Principal,
  ): Promise<{ readonly values: Values<K>; readonly before?: readonly Write[] }>;
  /** Called before records are shown to an account that did not create them: records the access in the audit trail. */
  disclose?(records: readonly Records[K][], principal: Principal): Promise<void>;
  update(record: Records[K], changes: Partial<Input>, principal: Principal): Promise<readonly Write[]>;
  /** Absent if records are deleted elsewhere. */
  remove?(record: Records[K], principal: Principal): Promise<readonly Write[]>;
  /** Cleans up after the record was deleted. */
  removed?(record: Records[K]): Promise<void>;
  /** Returns the detail of the audit event. */
  summary(record: Records[K]): Readonly<Record<string, string | number | boolean | null>>;
}

const created = newHandle('created');

export function resource<K extends Kind, Input, View>(
  context: Dependencies,
  rules: ResourceRules<K, Input, View>,
): Resource<K, Input, View> {
  const { kind } = rules;
  const [one, many] = nouns[kind];
  const find = async (id: number): Promise<Records[K]> => {
    const record = await context.store.get(kind, id);
    if (!record || rules.visible?.(record) === false) throw new Fault('notFound', `there is no such ${one}`);
    return record;
  };
  const show = async (record: Records[K], principal: Principal): Promise<View> => {
    await rules.disclose?.([record], principal);
    try {
      return rules.view(record, principal);
    } catch (error) {
      if (!isDamage(error) || toFault(error).code === 'internal') throw error;
      const { id } = record;
      const cause = new DamagedRecord(kind, id, `${kind} ${id} in the store is damaged`);
      throw new Fault('internal', 'internal error', { cause });
    }
  };
  const commit = async (writes: readonly Write[]): Promise<readonly number[]> => {
    const ids = await context.store.commit(writes);
    if ((configurationKinds as readonly Kind[]).includes(kind)) context.configuration.expire();
    return ids;
  };
  /** Commits changes to a record. If the record was deleted concurrently, reports notFound instead of conflict. */
  const change = async (id: number, writes: readonly Write[]): Promise<void> => {
    try {
      await commit(writes);
    } catch (error) {
      if (error instanceof Fault && error.code === 'conflict') await find(id);
      throw error;
    }
  };
  return {
    kind,
    async list(principal, query) {
      demand(principal, rules.reads);
      const where = [...(query.where ?? []), ...(rules.shown ?? [])];
      const page = await readsOf(context, principal).list(kind, { ...query, where });
      await rules.disclose?.(page.records, principal);
      const records = page.records.flatMap((record) => {
        try {
          return [rules.view(record, principal)];
        } catch (error) {
          if (!isDamage(error)) throw error;
          context.log.error('a damaged record is omitted from a list', error, { kind, id: record.id });
          return [];
        }
      });
      return { ...page, records };
    },
    async read(principal, id) {
      demand(principal, rules.reads);
      return show(await find(id), principal);
    },
    async create(principal, input) {
      demand(principal, rules.writes);
      demandVisibleNames(input);
      if (!rules.create) throw new Fault('unsupported', `${many} cannot be created here`);
      const { values, before = [] } = await rules.create(input, principal);
      const writes = [
        ...before,
        // The compiler cannot relate `kind` and `values` for a generic kind.
        { op: 'insert', kind, values, as: created } as Write,
        audit(context, principal.actor, { action: `${kind}.create` as AuditAction, object: kind }, created),
      ];
      const ids = await commit(writes);
      return rules.view(await find(idOf(created, writes, ids)), principal);
    },
    async update(principal, id, changes) {
      demand(principal, rules.writes);
      demandVisibleNames(changes);
      const record = await find(id);
      const writes = await rules.update(record, changes, principal);
      const event = {
        action: `${kind}.update` as AuditAction,
        object: `${kind}:${id}`,
        detail: { fields: Object.keys(changes).join(' ') },
      };
      await change(id, [...writes, audit(context, principal.actor, event)]);
      return show(await find(id), principal);
    },
    async remove(principal, id) {
      demand(principal, rules.writes);
      if (!rules.remove) throw new Fault('unsupported', `${many} cannot be deleted here`);
      const record = await find(id);
      const writes = await rules.remove(record, principal);
      const event = {
        action: `${kind}.delete` as AuditAction,
        object: `${kind}:${id}`,
        detail: rules.summary(record),
      };
      await change(id, [...writes, audit(context, principal.actor, event)]);
      await rules.removed?.(record);
    },
  };
}

const nameFields = ['username', 'uniqueName', 'commonName', 'serialNumber'];

/** Faults: malformed with the name field that contains invisible characters. */
export function demandVisibleNames(input: unknown): void {
  for (const [field, value] of Object.entries(input as object)) {
    if (!nameFields.includes(field) || typeof value !== 'string') continue;
    const problem = hiddenProblem(value);
    if (problem !== undefined) throw new Fault('malformed', problem, { field });
  }
}

/** Returns the writes of an update of plain fields; with `where`, only if the record still has these values. */
export function updateWrites<K extends Kind>(
  kind: K,
  id: number,
  set: object,
  where?: Partial<Records[K]>,
): readonly Write[] {
  return Object.keys(set).length === 0
    ? []
    : [{ op: 'update', kind, id, ...(where && { where }), set } as Write];
}
