import { hash } from 'node:crypto';
import type { Component } from './components.ts';
import type { Source } from './source.ts';

/** `pkg:npm/%40scope/name@version` (package URL specification). */
const purl = ({ name, version }: Component): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** A licence by its SPDX id, or an expression of several. */
const licence = (of: string) => (/^[\w.+-]+$/.test(of) ? { license: { id: of } } : { expression: of });

/** Returns the same UUID (version 8, RFC 9562) for the same text, so that a second build is equal. */
function uuid(text: string): string {
  const hex = hash('sha256', text).slice(0, 32);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ];
  return parts.join('-');
}

/**
 * Returns the software bill of materials of a program: CycloneDX 1.5, JSON. `name` is that of the archive. The hash of a package is that
 * of the file that the registry delivers, as package-lock.json states it.
 */
export function billOfMaterials(source: Source, name: string, components: readonly Component[]): string {
  const { version, commit, epoch } = source;
  const self = `pkg:generic/postern@${version}`;
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuid(`${name} ${commit}`)}`,
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString().replace('.000', ''),
      component: {
        type: 'application',
        'bom-ref': self,
        name: 'postern',
        version,
        purl: self,
        licenses: [{ license: { id: 'Apache-2.0' } }],
        properties: [
          { name: 'postern:archive', value: name },
          { name: 'postern:commit', value: commit },
        ],
      },
    },
    components: components.map((component) => ({
      type: component.name.startsWith('@oven/bun-') ? 'platform' : 'library',
      'bom-ref': `${purl(component)}#${component.path}`,
      name: component.name,
      version: component.version,
      purl: purl(component),
      licenses: [licence(component.licence)],
      hashes: [
        { alg: 'SHA-512', content: Buffer.from(component.integrity.slice(7), 'base64').toString('hex') },
      ],
    })),
    dependencies: [
      { ref: self, dependsOn: components.map((component) => `${purl(component)}#${component.path}`) },
    ],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}
