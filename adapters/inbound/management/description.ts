import type { TSchema } from '@sinclair/typebox';
import type { Permission } from '#core/access/permissions.ts';
import type { Principal } from '#core/access/principal.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Deferral } from '#core/issuance/enrolment-request.ts';
import type { Condition, Kind, Page, Query, Referral } from '#core/ports/store.ts';

/**
 * How a list can be narrowed by a field: the query parameter's text, trimmed, which `schema` allows → conditions, as of now; undefined
 * when it makes no sense.
 */
export type Filter<K extends Kind> = {
  readonly schema: TSchema;
  readonly conditions: (text: string, now: number) => readonly Condition<K>[] | undefined;
  /** Asked when there are conditions. */
  readonly referral?: (text: string, now: number) => Referral | undefined;
};

/** One member of a resource's JSON. */
export interface FieldDescription {
  readonly schema: TSchema;
  /** What the OpenAPI document says of it, where the core checks more than `schema` does. */
  readonly documented?: TSchema;
  /** What is shown, where that is not what is written. */
  readonly shown?: TSchema;
  /** Shown but not written; sent back by a client it is ignored. */
  readonly readOnly?: boolean;
  /** Written but not shown. */
  readonly writeOnly?: boolean;
  /** Taken on create alone. Sent back later, what is shown of it is ignored, and what is not is refused. */
  readonly createOnly?: boolean;
  /** Must be there on create and PUT, or on create alone. */
  readonly required?: boolean | 'create';
  /** What PUT takes for a member that is left out; without one the member is left out of the input too. */
  readonly whenMissing?: unknown;
  /** The name in the core's input and record; default: the member's name in camelCase. */
  readonly record?: string;
  /** JSON value → input value. */
  readonly toInput?: (value: unknown) => unknown;
  /** Left out of lists, where it would cost too much. */
  readonly detailOnly?: boolean;
  /** May stand in `ordering`; see `Ordering` for a field that is shown in another form than it is stored. */
  readonly orderable?: boolean | Ordering;
}

/** How a list is ordered by a field that is computed when it is shown. */
export interface Ordering {
  /** The field of the record whose order is the same. */
  readonly by: string;
  /** The values of that field in the order of what is shown; default: their own order. */
  readonly values?: readonly number[];
}

/** Everything there is to say of a resource; validation, handlers, filters and the OpenAPI schema all come from it. */
export interface Description<K extends Kind, Input, View> {
  readonly path: string;
  readonly tag: string;
  /** The list can also be read as a file, whole: see `exportOf`. */
  readonly exported?: true;
  /** What operations and schemas call one record and several; default: the words for its kind. */
  readonly noun?: readonly [one: string, many: string];
  readonly kind: K;
  /** What its operations need; `create` where that is not `write`. */
  readonly permissions: {
    readonly read: Permission;
    readonly write?: Permission;
    readonly create?: Permission;
  };
  readonly fields: Readonly<Record<string, FieldDescription>>;
  readonly filters?: Readonly<Record<string, Filter<K>>>;
  /** A view's JSON, member by member; `detail` false in lists. */
  readonly toJson: (view: View, detail: boolean) => Readonly<Record<string, unknown>>;
  /** For the OpenAPI document: a record as it is shown, and the write-only members as they are sent. */
  readonly example: Readonly<Record<string, unknown>>;
  /** When creation is answered with 202, and asked for again later. */
  readonly deferred?: string;
  /** When an operation is answered with 409. */
  readonly conflicts?: { readonly create?: string; readonly update?: string; readonly remove?: string };
  readonly operations: (gateway: Gateway) => Operations<K, Input, View>;
}

/** What a resource can do; a missing operation is answered with 405. */
export interface Operations<K extends Kind, Input, View> {
  list(principal: Principal, query: Query<K>): Promise<Page<View>>;
  read(principal: Principal, id: number): Promise<View>;
  /** Pending: see `Description.deferred`. */
  create?(principal: Principal, input: Input): Promise<View | Deferral>;
  update?(principal: Principal, id: number, changes: Partial<Input>): Promise<View>;
  remove?(principal: Principal, id: number): Promise<void>;
}

/** `issuing_ca` → `issuingCa`. */
export const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** `issuingCa` → `issuing_ca`. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** ISO 8601 in UTC without a zone suffix, as the specification has most timestamps. */
export const timestamp = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, -1);
