import { tag } from '../der/tag.ts';
import { Fault } from '../fault.ts';
import { attributeTypeNamed } from '../x509/attribute-type.ts';
import { attribute, buildName, type Name, type Rdn } from '../x509/name.ts';
import type { ProfileRules } from './language.ts';
import { attempt } from './problems.ts';
import { type Fields, parseTemplate } from './template.ts';

/** What a request under a profile must look like, as far as that is known in advance. */
export interface ExpectedRequest {
  /** With the values that the profile fixes, and empty values where the requester must supply one. */
  readonly subject: Name;
  /** The permitted key types, as in the profile; undefined: every type. */
  readonly keys: readonly string[] | undefined;
  readonly minimumRsaBits: number;
}

const leastRsaBits = 2048;

/** Returns the template for a CMP certReqTemplate (RFC 9483 §4.3.3). `from`: the requesting device and its domain. */
export function expectedRequest({ subject = {}, keys }: ProfileRules, from: Fields): ExpectedRequest {
  const rdns = Object.entries(subject).flatMap(([name, { fixed, required, default: usual }]): Rdn[] => {
    const type = attributeTypeNamed(name)?.oid ?? name;
    const values = fixed === undefined ? [] : [fixed].flat();
    const made = values.flatMap((text) => {
      const template = parseTemplate(text);
      const value = typeof template === 'string' ? undefined : template.render(from);
      const one = value === undefined ? undefined : attempt(() => attribute(type, value));
      return one === undefined || one instanceof Fault ? [] : [[one]];
    });
    const empty = required === true && fixed === undefined && usual === undefined;
    return empty ? [[{ type, value: '', tag: tag.utf8String }]] : made;
  });
  return {
    subject: buildName(rdns),
    keys: keys?.allowed,
    minimumRsaBits: keys?.minimumRsaBits ?? leastRsaBits,
  };
}
