import type { TSchema } from '@sinclair/typebox';
import type { Permission } from '#core/access/permissions.ts';
import type { Principal } from '#core/access/principal.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Deferral } from '#core/issuance/enrolment-request.ts';
import type { Condition, Kind, Page, Query, Referral } from '#core/ports/store.ts';

/**
 * A filter of a list. `schema`: the texts that the query parameter allows. `conditions` turns such a text, trimmed, into conditions,
 * or returns undefined if it is invalid.
 */
export type Filter<K extends Kind> = {
  readonly schema: TSchema;
  readonly conditions: (text: string, now: number) => readonly Condition<K>[] | undefined;
  /** Called only if there are conditions. */
  readonly referral?: (text: string, now: number) => Referral | undefined;
};

/** One member of a resource's JSON. */
export interface FieldDescription {
  readonly schema: TSchema;
  /** The schema in the OpenAPI document, if the core checks more than `schema` does. */
  readonly documented?: TSchema;
  /** The schema in responses, if it differs from that in requests. */
  readonly shown?: TSchema;
  /** Only in responses; ignored in requests, so that clients can send back what they have read. */
  readonly readOnly?: boolean;
  /** Only in requests. */
  readonly writeOnly?: boolean;
  /** Accepted only on creation. In later requests it is ignored, or rejected if it is also `writeOnly`. */
  readonly createOnly?: boolean;
  /** Required on create and PUT, or on create only. */
  readonly required?: boolean | 'create';
  /** The value that PUT uses for an omitted member; without it the input omits the member too. */
  readonly whenMissing?: unknown;
  /** The name in the core's input and record; default: the member's name in camelCase. */
  readonly record?: string;
  /** JSON value → input value. */
  readonly toInput?: (value: unknown) => unknown;
  /** Omitted from lists, because it would cost too much there. */
  readonly detailOnly?: boolean;
  /** Allowed in `ordering`; `Ordering` is for fields computed when they are shown. */
  readonly orderable?: boolean | Ordering;
}

/** How a list is ordered by a field that is computed when it is shown. */
export interface Ordering {
  /** The field of the record whose order is the same. */
  readonly by: string;
  /** The values of that field in the order of what is shown; default: their own order. */
  readonly values?: readonly number[];
}

/** Describes a resource. Validation, handlers, filters and the OpenAPI document are derived from it. */
export interface Description<K extends Kind, Input, View> {
  readonly path: string;
  readonly tag: string;
  /** The whole list can also be exported as a file: see `exportOf`. */
  readonly exported?: true;
  /** The singular and plural in the OpenAPI document; default: those of the record kind. */
  readonly noun?: readonly [one: string, many: string];
  readonly kind: K;
  /** The permissions that its operations need; `create` defaults to `write`, and `write` to `read`. */
  readonly permissions: {
    readonly read: Permission;
    readonly write?: Permission;
    readonly create?: Permission;
  };
  readonly fields: Readonly<Record<string, FieldDescription>>;
  readonly filters?: Readonly<Record<string, Filter<K>>>;
  /** Returns the JSON members of a record; `detail` is false in lists. */
  readonly toJson: (view: View, detail: boolean) => Readonly<Record<string, unknown>>;
  /** The example in the OpenAPI document: the members of a response, and the write-only members of a request. */
  readonly example: Readonly<Record<string, unknown>>;
  /** Documents when creation returns 202. */
  readonly deferred?: string;
  /** Documents when each operation returns 409. */
  readonly conflicts?: { readonly create?: string; readonly update?: string; readonly remove?: string };
  readonly operations: (gateway: Gateway) => Operations<K, Input, View>;
}

/** The operations of a resource; a request for a missing one gets 405. */
export interface Operations<K extends Kind, Input, View> {
  list(principal: Principal, query: Query<K>): Promise<Page<View>>;
  read(principal: Principal, id: number): Promise<View>;
  /** Returns a Deferral if the creation is pending: see `Description.deferred`. */
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

/** Formats a time as ISO 8601 in UTC without a zone suffix, as most timestamps of this API are. */
export const timestamp = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, -1);
