import { der } from '../../der/builder.ts';
import { type DerReader, readDer } from '../../der/reader.ts';
import { context, contextConstructed } from '../../der/tag.ts';
import { Fault } from '../../fault.ts';
import type { Extension } from '../extension.ts';
import { addGeneralName, readGeneralName, readGeneralNames } from '../general-name.ts';
import { oid } from '../oids.ts';

const mostLocations = 64;

/** Builds cRLDistributionPoints (RFC 5280 §4.2.1.13) with one distribution point that has all the URIs. */
export function crlDistributionPointsExtension(uris: readonly string[]): Extension {
  const value = der((b) =>
    b.sequence((points) =>
      points.sequence((point) =>
        point.explicit(0, (name) =>
          name.explicit(0, (full) => {
            for (const uri of uris) addGeneralName(full, { kind: 'uri', value: uri });
          }),
        ),
      ),
    ),
  );
  return { oid: oid.crlDistributionPoints, critical: false, value };
}

/** Returns the URIs of all distribution points. Names of other kinds are ignored. Faults: malformed. */
export function decodeCrlDistributionPoints(value: Uint8Array): string[] {
  return readDer(value, (reader) => {
    const points = reader.sequence();
    const uris: string[] = [];
    let count = 0;
    do {
      if (++count > mostLocations) throw new Fault('malformed', 'too many CRL distribution points');
      uris.push(...readDistributionPoint(points.sequence()));
    } while (!points.empty);
    return uris;
  });
}

function readDistributionPoint(point: DerReader): string[] {
  const uris: string[] = [];
  const name = point.optional(contextConstructed(0));
  if (name?.peek() === contextConstructed(0)) {
    for (const full of readGeneralNames(name, contextConstructed(0))) {
      if (full.kind === 'uri') uris.push(full.value);
    }
  } else {
    name?.element(contextConstructed(1));
  }
  name?.finish();
  if (point.peek() === context(1)) point.bitString(context(1));
  if (point.peek() === contextConstructed(2)) readGeneralNames(point, contextConstructed(2));
  point.finish();
  return uris;
}

/** The URIs of authorityInfoAccess (RFC 5280 §4.2.2.1). */
export interface AuthorityInfoAccess {
  readonly caIssuers: readonly string[];
  readonly ocsp: readonly string[];
}

export function authorityInfoAccessExtension(access: AuthorityInfoAccess): Extension {
  const value = der((b) =>
    b.sequence((s) => {
      for (const method of ['ocsp', 'caIssuers'] as const) {
        for (const uri of access[method]) {
          s.sequence((description) => {
            addGeneralName(description.oid(oid[method]), { kind: 'uri', value: uri });
          });
        }
      }
    }),
  );
  return { oid: oid.authorityInfoAccess, critical: false, value };
}

/** Decodes authorityInfoAccess. Other methods, and names that are not URIs, are ignored. Faults: malformed. */
export function decodeAuthorityInfoAccess(value: Uint8Array): AuthorityInfoAccess {
  return readDer(value, (reader) => {
    const sequence = reader.sequence();
    const caIssuers: string[] = [];
    const ocsp: string[] = [];
    let count = 0;
    do {
      if (++count > mostLocations) throw new Fault('malformed', 'too many access descriptions');
      const description = sequence.sequence();
      const method = description.oid();
      const location = readGeneralName(description);
      description.finish();
      if (location.kind !== 'uri') continue;
      if (method === oid.caIssuers) caIssuers.push(location.value);
      if (method === oid.ocsp) ocsp.push(location.value);
    } while (!sequence.empty);
    return { caIssuers, ocsp };
  });
}
