import { Fault } from '../fault.ts';
import type { Write } from '../ports/store.ts';
import type { Setting } from '../records/setting.ts';

/**
 * The JSON object that is the value of a setting. Faults: internal where it is damaged, or not what `isRight` expects; the log has its
 * name then, and nothing of what it holds.
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
 * Gives a setting its value. `before`: as it was read; of two that change it at once the later one is refused (conflict). `quiet`: no
 * other process has to look again.
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
