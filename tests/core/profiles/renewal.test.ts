import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { patterns } from '#adapters/outbound/system/patterns.ts';
import { Fault } from '#core/fault.ts';
import { type CompiledProfile, compileProfile, type ProfileOutcome } from '#core/profiles/apply.ts';
import { parseProfileRules } from '#core/profiles/parse.ts';
import { extension, subjectAltNamesOf } from '#core/x509/certificate.ts';
import { formatGeneralName } from '#core/x509/general-name.ts';
import { oid } from '#core/x509/oids.ts';
import { runs } from '#tests/property.ts';
import { requestFor, surroundings, type Wish } from './rehearsal.ts';

// RFC 7030 §4.2.2: a device renews with the subject and names of its certificate and must get the same again.
// So a profile with any rules must accept its own outcome as a request.

const word = fc.constantFrom('a', 'b', 'pump-1', 'a.example', 'urn:a', '10.0.0.1', 'ACME');
const subjectTemplate = fc.oneof(
  word,
  fc.constantFrom('{device.common_name}', '{device.serial_number}', '{domain.unique_name}', 'x-{device.id}'),
);
const nameTemplate = fc.oneof(
  subjectTemplate,
  fc.constantFrom('{request.common_name}', 'urn:{request.common_name}', '{request.serial_number}.example'),
);

const ruleWith = (template: fc.Arbitrary<string>) => {
  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const list = fc.uniqueArray(template, { minLength: 1, maxLength: 2 });
  const common = {
    unfit: optional(fc.constant('drop' as const)),
    pattern: optional(fc.constantFrom('.*', '[a-z.:0-9-]+')),
  };
  return fc.oneof(
    fc.record({ ...common, fixed: list }),
    fc.record({
      ...common,
      default: optional(list),
      allowed: optional(list),
      required: optional(fc.boolean()),
      most: optional(fc.integer({ min: 1, max: 3 })),
    }),
    fc.record({ forbidden: fc.constant(true), unfit: common.unfit }),
  );
};

const some = <K extends string, V>(keys: readonly K[], value: fc.Arbitrary<V>) =>
  fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 3 });
const others = fc.constantFrom('refuse', 'drop', 'keep');

const rules = fc.record({
  validity: fc.constant({ duration: 'P1Y' }),
  subject: some(['CN', 'O', 'OU', 'serialNumber'], ruleWith(subjectTemplate)),
  subjectAltName: some(['dns', 'ip', 'uri'], ruleWith(nameTemplate)),
  others: fc.record({ subject: others, subjectAltName: others, extensions: others }),
});

const wishes = fc.record({
  subject: fc
    .array(fc.tuple(fc.constantFrom('CN', 'O', 'OU', 'serialNumber'), word), { maxLength: 3 })
    .map((pairs) => pairs.map(([type, value]) => `${type}=${value}`).join(',')),
  names: fc.array(
    fc.constantFrom('DNS:a', 'DNS:b', 'DNS:a.example', 'DNS:pump-1', 'IP:10.0.0.1', 'URI:urn:a', 'email:a@b'),
    { maxLength: 3 },
  ),
});

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    return undefined;
  }
}

const compile = (written: unknown): CompiledProfile | undefined =>
  attempt(() => compileProfile(parseProfileRules(JSON.parse(JSON.stringify(written)), patterns), patterns));
const give = (profile: CompiledProfile, wish: Wish): ProfileOutcome =>
  profile.apply({ ...surroundings, request: requestFor(wish) });

test('the outcome of any rules is accepted as a request and gives the same outcome', () => {
  let granted = 0;
  fc.assert(
    fc.property(rules, wishes, (written, wish) => {
      const profile = compile(written);
      const first = profile && attempt(() => give(profile, wish));
      if (!profile || !first) return;
      granted++;
      const again = give(profile, { subject: first.subject, names: subjectAltNamesOf(first) });
      expect(again.subject.der).toEqual(first.subject.der);
      expect(extension(again, oid.subjectAltName)).toEqual(extension(first, oid.subjectAltName));
      const names = subjectAltNamesOf(first).map(formatGeneralName);
      expect(new Set(names).size).toBe(names.length);
    }),
    runs(600),
  );
  expect(granted).toBeGreaterThan(50);
});

test('the explanation gives the same outcome and lists every attribute and name of it', () => {
  fc.assert(
    fc.property(rules, wishes, (written, wish) => {
      const profile = compile(written);
      const outcome = profile && attempt(() => give(profile, wish));
      if (!outcome) return;
      const explained = outcome.explain();
      const values = (start: string) =>
        explained.filter(({ field, value }) => field.startsWith(start) && value !== '').length;
      expect(values('subject.')).toBe(outcome.subject.rdns.length);
      expect(values('subjectAltName.')).toBe(subjectAltNamesOf(outcome).length);
      for (const { because } of explained) expect(because).not.toBe('');
    }),
    runs(300),
  );
});
