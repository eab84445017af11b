import { existsSync, readFileSync } from 'node:fs';
import { account, skipsIn } from './skips.ts';

// `bun tests/report-skips.ts REPORT REASONS`: prints what was skipped and why. Status 1: in CI, something that has to run there.
const [report = '', reasons = ''] = process.argv.slice(2);
const missing = existsSync(reasons) ? readFileSync(reasons, 'utf8').split('\n').filter(Boolean) : [];
const { lines, unexpected } = account(
  existsSync(report) ? skipsIn(readFileSync(report, 'utf8')) : [],
  missing,
);
for (const line of lines) console.log(line);
if (process.env.CI === 'true' && unexpected > 0) {
  console.log(
    `${unexpected} skipped tests have to run in CI: install what they need, or add them to tests/skips.ts`,
  );
  process.exit(1);
}
