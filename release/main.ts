import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from './archive.ts';
import { signChecksums, writeChecksums } from './checksums.ts';
import { packageDebian } from './debian.ts';
import { packDeployments } from './deployment.ts';
import { buildImage } from './image.ts';
import { platforms, stageProgram } from './program.ts';
import { billOfMaterials } from './sbom.ts';
import { describeSource, root } from './source.ts';

/**
 * `npm run release`: builds `dist/` from the commit that is checked out. The same commit, built with the same versions of the
 * compiler, tar, gzip, dpkg and the C library, gives the same octets.
 */
async function main(): Promise<void> {
  const source = await describeSource();
  const dist = join(root, 'dist');
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist);
  const work = await mkdtemp(join(process.env.TMPDIR ?? tmpdir(), 'postern-release-'));
  try {
    for (const platform of platforms) {
      const name = `postern-${source.version}-linux-${platform.cpu}`;
      const program = join(work, name);
      console.log(`building ${name}`);
      const components = await stageProgram(source, platform, program);
      await writeFile(join(dist, `${name}.cdx.json`), billOfMaterials(source, name, components));
      await pack(program, join(dist, `${name}.tar.gz`), source.epoch);
      await packageDebian(source, platform, program, join(work, `debian-${platform.debian}`), dist);
      const layers = join(work, `image-${platform.cpu}`);
      await mkdir(layers);
      await buildImage(source, platform, program, layers, dist);
    }
    await packDeployments(source, work, dist);
    await writeChecksums(dist);
    const key = process.env.RELEASE_KEY;
    if (key === undefined) console.log('not signed: RELEASE_KEY names no file with an Ed25519 key');
    else await signChecksums(dist, key);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  console.log(`dist/ holds postern ${source.version} of commit ${source.commit}`);
}

await main();
