// `npm run reference`: writes the generated parts of the pages in docs/reference/, from the code.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reference } from './pages.ts';

for (const { path, now, before } of reference(join(import.meta.dir, '../..'))) {
  if (now !== before) writeFileSync(path, now);
}
