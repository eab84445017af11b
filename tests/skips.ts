/** Tests that may be skipped in CI, and why; `npm test` prints the reasons. All others must run there. */
export const expectedSkips: readonly {
  readonly file: string;
  readonly name: string;
  readonly why: string;
}[] = [
  {
    file: 'tests/docs.test.ts',
    name: 'are `area: summary` of at most 72 characters',
    why: 'there is no git, or the clone does not reach back to the commit from which the rule holds',
  },
  {
    file: 'tests/plugins/plugin-new.test.ts',
    name: 'the plugins it wrote compile',
    why: 'the compiler reads all of Postern for each plugin: with POSTERN_NIGHTLY=1 only',
  },
];

export interface Skip {
  readonly file: string;
  readonly name: string;
}

/** The skipped tests in a report of Bun's JUnit reporter. */
export function skipsIn(report: string): readonly Skip[] {
  const cases = report.matchAll(/<testcase ([^>]*[^/>])>\s*<skipped\b/g);
  return [...cases].map(([, attributes = '']) => ({
    file: attribute(attributes, 'file'),
    name: attribute(attributes, 'name'),
  }));
}

const entities: Readonly<Record<string, string>> = { quot: '"', apos: "'", lt: '<', gt: '>', amp: '&' };

function attribute(attributes: string, name: string): string {
  const [, value = ''] = new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes) ?? [];
  return value.replace(/&(\w+);/g, (entity, called: string) => entities[called] ?? entity);
}

/** The lines that say what was skipped and why, and how many of these skips nobody expects. */
export function account(
  skips: readonly Skip[],
  missing: readonly string[],
): { readonly lines: readonly string[]; readonly unexpected: number } {
  const lines: string[] = [];
  const others = new Map<string, number>();
  for (const { file, name } of skips) {
    const expected = expectedSkips.find((one) => one.file === file && one.name === name);
    if (expected) lines.push(`skipped: ${file}: ${name} (${expected.why})`);
    else others.set(file, (others.get(file) ?? 0) + 1);
  }
  for (const [file, count] of others) lines.push(`skipped: ${file}: ${count} tests`);
  lines.push(...new Set(missing.map((why) => `because ${why}`)));
  return { lines, unexpected: [...others.values()].reduce((sum, count) => sum + count, 0) };
}
