import { Fault } from '../fault.ts';
import type { Write } from '../ports/store.ts';
import type { Setting } from '../records/setting.ts';

/**
 * Decodes the JSON object in the value of a setting. Faults: internal if the value is damaged or fails `isRight`; the
 * log then names the setting, but shows nothing of its value.
 */
export function settingContent<T extends object>(
  { name, value }: Setting,
  isRight: (content: { readonly [M in keyof T]?: unknown }) => boolean = () => true,
): T {
  const content = parsed(value);
  const isObject = typeof content === 'object' && content !== null && !Array.isArray(content);
  if (isObject && isRight(content)) return content as T;
  throw new Fault('internal', 'internal error', {
    cause: new Error(`the setting ${name} in the store is damaged`),
  });
}

/**
 * Returns the write that sets the value of a setting. `before`: the setting as it was read; if two processes change it
 * concurrently, the second one fails (conflict). `quiet`: other processes need not reload their configuration.
 */
export const settingWrite = (
  name: string,
  before: Setting | undefined,
  value: Uint8Array,
  quiet: boolean,
): Write =>
  before
    ? { op: 'update', kind: 'setting', id: before.id, where: { value: before.value }, set: { value }, quiet }
    : { op: 'insert', kind: 'setting', values: { name, value } };

function parsed(value: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}
