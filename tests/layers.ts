import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importedFiles } from './import-table.ts';

/**
 * The layers of `core/`, from the bottom up. Each imports only from those named before it, types included; the names on one line
 * do not import each other either.
 */
const layers: readonly (readonly string[])[] = [
  ['fault.ts'],
  ['der'],
  ['x509'],
  ['records'],
  ['ports'],
  ['signing', 'health', 'storage', 'security'],
  ['profiles', 'audit'],
  ['configuration'],
  ['access'],
  ['overview', 'webhooks', 'accounts'],
  ['requester'],
  ['transactions'],
  ['issuance'],
  ['metrics', 'ca', 'approvals', 'onboarding'],
  ['backups', 'upstream'],
  ['enrolment'],
  ['administration'],
  ['devices'],
  ['maintenance'],
  ['gateway.ts'],
];

/** Every source file and the files that it imports, as paths from the root of the repository. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** Reads the imports of `core/`, `adapters/` and `plugins/`. `root` is the directory of the repository. */
export function importGraph(root: string): ImportGraph {
  const files = [...new Bun.Glob('{core,adapters,plugins}/**/*.{ts,tsx}').scanSync(root)].sort();
  return new Map(files.map((file) => [file, importedFiles(file, readFileSync(join(root, file), 'utf8'))]));
}

/** The folder of `core/` that a file belongs to, or its name where it lies in none; undefined outside of `core/`. */
const folderOf = (file: string): string | undefined => /^core\/([^/]+)/.exec(file)?.[1];

/** The folders of `core/` and the other folders that each imports from. */
function folderGraph(graph: ImportGraph): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const [file, imports] of graph) {
    const folder = folderOf(file);
    if (folder === undefined) continue;
    const others = folders.get(folder) ?? new Set<string>();
    folders.set(folder, others);
    for (const imported of imports) {
      const other = folderOf(imported);
      if (other !== undefined && other !== folder) others.add(other);
    }
  }
  return folders;
}

/** Every import that does not point from a higher to a lower layer, and every folder that no layer names. */
export function layerStrays(graph: ImportGraph): string[] {
  const levels = new Map(layers.flatMap((names, level) => names.map((name) => [name, level] as const)));
  const strays: string[] = [];
  for (const [file, imports] of graph) {
    const folder = folderOf(file);
    if (folder === undefined) continue;
    const level = levels.get(folder);
    if (level === undefined) {
      strays.push(`${file}: core/${folder} is in no layer`);
      continue;
    }
    for (const imported of imports) {
      const other = folderOf(imported);
      if (other === undefined || other === folder) continue;
      if ((levels.get(other) ?? Number.POSITIVE_INFINITY) >= level) {
        strays.push(`${file}: imports ${imported}, which is not in a lower layer`);
      }
    }
  }
  return strays;
}

/** The files that import each other in a circle, one list for each circle (Tarjan's strongly connected components). */
export function circles(graph: ImportGraph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): number => {
    const number = order.size;
    let low = number;
    order.set(file, number);
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    lowest.set(file, low);
    if (low === number) {
      const component = stack.splice(stack.indexOf(file)).sort();
      if (component.length > 1) found.push(component);
    }
    return low;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return found;
}

/** The folders of `core/` as a Mermaid flowchart, the highest layer first; an import that a longer way implies is left out. */
export function drawLayers(graph: ImportGraph): string {
  const folders = folderGraph(graph);
  const reaches = (from: string, to: string): boolean =>
    [...(folders.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  const id = (name: string): string => name.replace('.ts', '');
  const lines = ['flowchart TD'];
  for (const name of [...layers].reverse().flat()) {
    lines.push(`  ${id(name)}["${name}"]`);
    const direct = [...(folders.get(name) ?? [])].sort();
    for (const other of direct) {
      const implied = direct.some((via) => via !== other && reaches(via, other));
      if (!implied) lines.push(`  ${id(name)} --> ${id(other)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}
