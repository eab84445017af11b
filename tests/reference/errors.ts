import { failures } from '#adapters/inbound/cmp/refusal.ts';
import { statuses as est } from '#adapters/inbound/est/response.ts';
import { statuses as management } from '#adapters/inbound/management/errors.ts';
import { errors as rest } from '#adapters/inbound/rest/response.ts';
import { faultCodes, faultMeanings } from '#core/fault.ts';
import { code, type Parts, table } from './page.ts';

/** The table of `docs/reference/errors.md`. */
export const errorParts: Parts = {
  errors: table(
    ['Fault', 'EST', 'REST', 'CMP', 'Management API', 'Meaning'],
    faultCodes.map((name) => [
      code(name),
      String(est[name]),
      `${rest[name][0]} ${code(rest[name][1])}`,
      code(failures[name]),
      String(management[name]),
      faultMeanings[name],
    ]),
  ),
};
