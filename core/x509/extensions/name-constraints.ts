import { type DerBuilder, der } from '../../der/builder.ts';
import { type DerReader, readDer } from '../../der/reader.ts';
import { contextConstructed } from '../../der/tag.ts';
import { Fault } from '../../fault.ts';
import type { Extension } from '../extension.ts';
import { addGeneralName, type GeneralName, readGeneralName } from '../general-name.ts';
import { oid } from '../oids.ts';

/** The base names of subtrees (RFC 5280 §4.2.1.10). The base of an IP subtree is an address and a mask. */
export interface NameConstraints {
  readonly permitted: readonly GeneralName[];
  readonly excluded: readonly GeneralName[];
}

const mostSubtrees = 256;

export function nameConstraintsExtension(constraints: NameConstraints): Extension {
  const value = der((b) =>
    b.sequence((s) => {
      addSubtrees(s, 0, constraints.permitted);
      addSubtrees(s, 1, constraints.excluded);
    }),
  );
  return { oid: oid.nameConstraints, critical: true, value };
}

function addSubtrees(builder: DerBuilder, n: number, bases: readonly GeneralName[]): void {
  if (bases.length === 0) return;
  builder.explicit(n, (subtrees) => {
    for (const base of bases) subtrees.sequence((subtree) => addGeneralName(subtree, base));
  });
}

/** Decodes nameConstraints. Minimum and maximum are rejected, because RFC 5280 does not use them. Faults: malformed. */
export function decodeNameConstraints(value: Uint8Array): NameConstraints {
  return readDer(value, (reader) => {
    const sequence = reader.sequence();
    const permitted = sequence.optional(contextConstructed(0));
    const excluded = sequence.optional(contextConstructed(1));
    sequence.finish();
    if (!permitted && !excluded) throw new Fault('malformed', 'empty name constraints');
    return { permitted: readSubtrees(permitted), excluded: readSubtrees(excluded) };
  });
}

function readSubtrees(reader: DerReader | undefined): GeneralName[] {
  const bases: GeneralName[] = [];
  if (!reader) return bases;
  do {
    const subtree = reader.sequence();
    const base = readGeneralName(subtree);
    subtree.finish();
    if (base.kind === 'ip' && base.value.length !== 8 && base.value.length !== 32) {
      throw new Fault('malformed', 'name constraint: IP address without a mask');
    }
    bases.push(base);
    if (bases.length > mostSubtrees) throw new Fault('malformed', 'too many name constraints');
  } while (!reader.empty);
  return bases;
}
