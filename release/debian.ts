import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { need, run } from './command.ts';
import type { Platform } from './program.ts';
import { root, type Source } from './source.ts';

const templates = join(root, 'release/debian');
const maintainer = 'The operator of this copy <postern@localhost>';

/** Writes `postern_VERSION_ARCHITECTURE.deb` into `dist`, with the program in `program`. `work` is an empty directory. */
export async function packageDebian(
  source: Source,
  platform: Platform,
  program: string,
  work: string,
  dist: string,
): Promise<void> {
  need('dpkg-deb', 'dpkg');
  const { version, epoch } = source;
  const place = (path: string): string => join(work, path);
  const folders = [
    'DEBIAN',
    'usr/bin',
    'usr/lib',
    'usr/share/doc/postern',
    'usr/share/lintian/overrides',
    'lib/systemd/system',
  ];
  for (const path of [...folders, 'etc/postern/secrets']) await mkdir(place(path), { recursive: true });
  await run(['cp', '-a', program, place('usr/lib/postern')]);
  await cp(join(templates, 'postern'), place('usr/bin/postern'));
  await cp(join(templates, 'postern.service'), place('lib/systemd/system/postern.service'));
  await cp(join(templates, 'postern.toml'), place('etc/postern/postern.toml'));
  await cp(join(templates, 'lintian-overrides'), place('usr/share/lintian/overrides/postern'));
  for (const script of ['postinst', 'prerm', 'postrm'])
    await cp(join(templates, script), place(`DEBIAN/${script}`));
  await writeFile(place('DEBIAN/conffiles'), '/etc/postern/postern.toml\n');
  await writeDocuments(source, place('usr/share/doc/postern'), program);
  await writeFile(place('DEBIAN/control'), await control(source, platform, place('usr')));
  await run(['chmod', '-R', 'u=rwX,go=rX', work]);
  await run(['chmod', '0700', place('etc/postern/secrets')]);
  await run(['find', work, '-exec', 'touch', '-h', '-d', `@${epoch}`, '{}', '+']);
  // One thread: with several, the result of xz depends on their number.
  const compression = ['-Zxz', '-z1', '--threads-max=1', '--root-owner-group'];
  const file = join(dist, `postern_${version}_${platform.debian}.deb`);
  await run(['dpkg-deb', ...compression, '--build', work, file], {
    env: { SOURCE_DATE_EPOCH: String(epoch) },
  });
}

async function control({ version }: Source, platform: Platform, files: string): Promise<string> {
  const size = (await run(['du', '-sk', '--apparent-size', files])).split('\t')[0];
  return `Package: postern
Version: ${version}
Architecture: ${platform.debian}
Maintainer: ${maintainer}
Installed-Size: ${size}
Depends: libc6 (>= 2.36), adduser
Recommends: curl, openssl
Suggests: postgresql, softhsm2
Section: net
Priority: optional
Description: PKI gateway for plants and machine builders
 Devices obtain and renew X.509 certificates over EST, CMP or REST. Postern
 signs with its own CAs, in files or in an HSM, or passes requests on to
 upstream CAs. Administrators use a web console, an API and a command line.
`;
}

/** What Debian's policy wants in /usr/share/doc: the copyright and the changelog. The manual is in /usr/lib/postern/docs. */
async function writeDocuments({ version, epoch }: Source, folder: string, program: string): Promise<void> {
  const licence = '/usr/share/common-licenses/Apache-2.0';
  const thirdParty = (await readFile(join(program, 'THIRD-PARTY.txt'), 'utf8')).trimEnd();
  await writeFile(
    join(folder, 'copyright'),
    `Postern is under the Apache License 2.0: see ${licence}.\n\n${thirdParty}\n`,
  );
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000');
  const text = `postern (${version}) stable; urgency=medium\n\n  * See /usr/lib/postern/CHANGELOG.md.\n\n -- ${maintainer}  ${date}\n`;
  await writeFile(join(folder, 'changelog'), text);
  await run(['gzip', '-n', '-9', join(folder, 'changelog')]);
}
