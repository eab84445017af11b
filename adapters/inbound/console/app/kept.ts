import { type Signal, signal } from '@preact/signals';

/** A choice of the person that this browser remembers, where it is allowed to. */
export function kept<T extends string>(name: string, allowed: readonly T[], usual: T): Signal<T> {
  const key = `postern.${name}`;
  let found: string | null = null;
  try {
    found = localStorage.getItem(key);
  } catch {}
  const choice = signal<T>(allowed.find((one) => one === found) ?? usual);
  choice.subscribe((value) => {
    try {
      if (value === usual && localStorage.getItem(key) === null) return;
      localStorage.setItem(key, value);
    } catch {}
  });
  return choice;
}
