import { nouns } from '../ports/nouns.ts';
import type { Health } from '../ports/platform.ts';
import type { Configuration, SetAside } from './configuration.ts';

export function describeSetAside({ kind, id, uniqueName, reason }: SetAside): string {
  const [noun] = nouns[kind];
  const name = uniqueName === '' ? `${id}` : `"${uniqueName}" (id ${id})`;
  return `the ${noun} ${name} cannot be loaded: ${reason.slice(0, 200).toWellFormed()}`;
}

const mostNamed = 5;

/** Health of the configuration: not ok while a record is set aside. */
export function configurationHealth({ setAside }: Pick<Configuration, 'setAside'>): Health {
  if (setAside.length === 0) return { ok: true };
  const named = setAside.slice(0, mostNamed).map(describeSetAside).join('; ');
  const more = setAside.length > mostNamed ? `; and ${setAside.length - mostNamed} more` : '';
  return { ok: false, detail: `${named}${more}` };
}
