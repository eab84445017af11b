import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { permissionParts } from './access.ts';
import { auditEventParts } from './audit-events.ts';
import { commandParts } from './commands.ts';
import { configurationParts } from './configuration.ts';
import { errorParts } from './errors.ts';
import { configurationSchema } from './json-schema.ts';
import { type Parts, withParts } from './page.ts';

/** The pages with generated parts, as paths in `docs/reference/`. */
const pages: Readonly<Record<string, Parts>> = {
  'configuration.md': configurationParts,
  'command-line.md': commandParts,
  'audit-events.md': auditEventParts,
  'permissions.md': permissionParts,
  'errors.md': errorParts,
};

/** The files that are generated whole. */
const files: Readonly<Record<string, () => string>> = {
  'postern.schema.json': () => `${JSON.stringify(configurationSchema, undefined, 2)}\n`,
};

/** Returns the text of every generated file as it has to be now, and as it is. `root` is the directory of the repository. */
export function reference(root: string): { path: string; parts: Parts; now: string; before: string }[] {
  const read = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  const at = (name: string): string => join(root, 'docs/reference', name);
  return [
    ...Object.entries(pages).map(([name, parts]) => {
      const before = read(at(name));
      return { path: at(name), parts, now: withParts(before, parts), before };
    }),
    ...Object.entries(files).map(([name, write]) => ({
      path: at(name),
      parts: {},
      now: write(),
      before: read(at(name)),
    })),
  ];
}
