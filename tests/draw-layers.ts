// `npm run layers`: draws the folders of core/ into docs/explanation/layers.md, from the imports.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withDrawing } from './layers-page.ts';

const root = join(import.meta.dir, '..');
const page = join(root, 'docs/explanation/layers.md');
writeFileSync(page, withDrawing(readFileSync(page, 'utf8'), root));
