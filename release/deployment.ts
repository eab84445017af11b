import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pack } from './archive.ts';
import { root, type Source } from './source.ts';

/**
 * Writes the Helm chart (`postern-chart-VERSION.tar.gz`, which `helm` accepts as it is) and the compose files
 * (`postern-compose-VERSION.tar.gz`) into `dist`. `work` is an existing directory.
 */
export async function packDeployments(source: Source, work: string, dist: string): Promise<void> {
  const { version, epoch } = source;
  const chart = join(work, 'postern');
  await cp(join(root, 'release/chart'), chart, { recursive: true });
  const description = join(chart, 'Chart.yaml');
  await writeFile(description, (await readFile(description, 'utf8')).replaceAll('0.0.0', version));
  await pack(chart, join(dist, `postern-chart-${version}.tar.gz`), epoch);
  const compose = join(work, 'postern-compose');
  await cp(join(root, 'release/compose'), compose, { recursive: true });
  await pack(compose, join(dist, `postern-compose-${version}.tar.gz`), epoch);
}
