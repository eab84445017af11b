import type { TSchema } from '@sinclair/typebox';
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value';
import type { Patterns } from '../ports/platform.ts';
import { compileProfile } from './apply.ts';
import { type ProfileRules, profileRulesSchema } from './language.ts';
import { Problems } from './problems.ts';

/**
 * Parses the rules that an administrator sends. Faults: malformed with `field: 'profile'`, and up to 10 problems in its
 * detail, each with its path.
 */
export function parseProfileRules(value: unknown, patterns: Patterns): ProfileRules {
  const problems = new Problems(value);
  for (const error of Value.Errors(profileRulesSchema, value)) {
    problems.add(pathOf(error), schemaProblem(error));
    if (problems.full) break;
  }
  problems.settle();
  const rules = value as ProfileRules;
  compileProfile(rules, patterns);
  return rules;
}

/** JSON pointer → `profile.subject.CN`. */
const pathOf = ({ path }: ValueError): string =>
  path.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');

function schemaProblem({ type, message, schema }: ValueError): string {
  if (type === ValueErrorType.ObjectAdditionalProperties) return 'unknown member';
  if (type === ValueErrorType.ObjectRequiredProperty) return 'is missing';
  if (type === ValueErrorType.Union) {
    const choices = (schema.anyOf as readonly TSchema[]).map((choice) => choice.const as unknown);
    return choices[0] === undefined ? `must be ${schema.title}` : `must be one of ${choices.join(', ')}`;
  }
  return message[0]!.toLowerCase() + message.slice(1);
}
