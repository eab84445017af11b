import { Fault } from '../fault.ts';
import type { KeyType } from '../x509/algorithm.ts';
import { type Extension, shared } from '../x509/extension.ts';
import {
  decodeExtendedKeyUsage,
  decodeKeyUsage,
  extendedKeyUsageExtension,
  type KeyUsage,
  keyUsageExtension,
} from '../x509/extensions/usage.ts';
import { oid } from '../x509/oids.ts';
import type { ProfileRules } from './language.ts';
import { isOid } from './problems.ts';
import { compilePurposes, decidePurposes } from './purposes.ts';
import type { Tools } from './template.ts';
import type { Trace } from './values.ts';

type Written = NonNullable<ProfileRules['extensions']>;

/** Returns an extension, or undefined if the certificate has none. `requested`: its value in the request. */
type UsageRules = (requested: Uint8Array | undefined, key: KeyType, trace?: Trace) => Extension | undefined;

/**
 * Usages that a type of key cannot have: RFC 4055 §1.2 (RSA), RFC 5480 §3 (EC), RFC 8410 §5 and RFC 9881 §5 (signatures
 * only).
 */
const unusable: Readonly<Record<'rsa' | 'ec' | 'signature', readonly KeyUsage[]>> = {
  rsa: ['keyAgreement', 'encipherOnly', 'decipherOnly'],
  ec: ['keyEncipherment', 'dataEncipherment'],
  signature: ['keyEncipherment', 'dataEncipherment', 'keyAgreement', 'encipherOnly', 'decipherOnly'],
};

type Family = keyof typeof unusable;
const familyOf = (key: KeyType): Family =>
  key.startsWith('rsa-') ? 'rsa' : key.startsWith('p-') ? 'ec' : 'signature';

export function compileKeyUsage(
  written: Written['keyUsage'],
  ca: boolean,
  tools: Tools,
): UsageRules | undefined {
  const field = 'extensions.keyUsage';
  const { problems } = tools;
  const problem = (member: string, what: string): void =>
    problems.add(member ? `${field}.${member}` : field, what);
  // RFC 5280 §4.2.1.3, §4.2.1.9
  if (ca && !written?.fixed?.includes('keyCertSign')) problem('fixed', 'a CA needs keyCertSign here');
  if (!written) return undefined;
  const rule = compilePurposes(field, written, problem);
  for (const member of ['fixed', 'default', 'allowed', 'required'] as const) {
    if (!ca && written[member]?.includes('keyCertSign')) {
      problem(member, 'keyCertSign needs basicConstraints with ca: true');
    }
  }
  /** Caches the encoding of fixed usages. */
  const encoded = new Map<Family, Extension>();
  return (requested, key, trace) => {
    const family = familyOf(key);
    const known = trace ? undefined : encoded.get(family);
    if (known && !requested) return known;
    const chosen = decidePurposes(rule, requested ? decodeKeyUsage(requested) : [], trace);
    if (chosen.length === 0) return undefined;
    if (known) return known;
    const made = keyUsageExtension(usableOf(chosen, family, key, trace));
    if (rule.fixed) encoded.set(family, shared(made));
    return made;
  };
}

function usableOf(
  chosen: readonly KeyUsage[],
  family: Family,
  key: KeyType,
  trace?: Trace,
): readonly KeyUsage[] {
  const able = chosen.filter((usage) => !unusable[family].includes(usage));
  // RFC 5280 §4.2.1.3: these two usages qualify keyAgreement and mean nothing without it.
  const usable = able.includes('keyAgreement') ? able : able.filter((usage) => !usage.endsWith('Only'));
  if (usable.length === 0) {
    throw new Fault('badAlgorithm', `keys: ${key} cannot be used for any of ${chosen.join(', ')}`);
  }
  const left = chosen.filter((usage) => !usable.includes(usage));
  if (left.length > 0)
    trace?.('extensions.keyUsage', '', `${left.join(', ')} is omitted: ${key} keys cannot be used for it`);
  return usable;
}

const purposeNames = [
  'serverAuth',
  'clientAuth',
  'codeSigning',
  'emailProtection',
  'timeStamping',
  'ocspSigning',
  'anyExtendedKeyUsage',
  'cmcCa',
  'cmcRa',
  'cmKga',
] as const;

const nameOfPurpose = new Map<string, string>(purposeNames.map((name) => [oid[name], name]));
const oidOfPurpose = new Map<string, string>(purposeNames.map((name) => [name, oid[name]]));

export function compileExtendedKeyUsage(
  written: Written['extendedKeyUsage'],
  { problems }: Tools,
): UsageRules | undefined {
  if (!written) return undefined;
  const field = 'extensions.extendedKeyUsage';
  const problem = (member: string, what: string): void =>
    problems.add(member ? `${field}.${member}` : field, what);
  const named = (member: 'fixed' | 'default' | 'allowed' | 'required') =>
    written[member] && {
      [member]: written[member].map((purpose) => {
        if (!oidOfPurpose.has(purpose) && !isOid(purpose)) {
          problem(member, `${purpose} is neither an OID nor one of ${purposeNames.join(', ')}`);
        }
        return nameOfPurpose.get(purpose) ?? purpose;
      }),
    };
  const rule = compilePurposes<string>(
    field,
    { ...written, ...named('fixed'), ...named('default'), ...named('allowed'), ...named('required') },
    problem,
  );
  const encode = (purposes: readonly string[]): Extension =>
    extendedKeyUsageExtension(
      purposes.map((purpose) => oidOfPurpose.get(purpose) ?? purpose),
      written.critical,
    );
  /** Caches the encoding of fixed purposes. */
  let encoded: Extension | undefined;
  return (requested, _key, trace) => {
    if (encoded && !requested && !trace) return encoded;
    const asked = requested ? decodeExtendedKeyUsage(requested) : [];
    const chosen = decidePurposes(
      rule,
      asked.map((purpose) => nameOfPurpose.get(purpose) ?? purpose),
      trace,
    );
    if (chosen.length === 0) return undefined;
    if (!rule.fixed) return encode(chosen);
    encoded ??= shared(encode(chosen));
    return encoded;
  };
}
