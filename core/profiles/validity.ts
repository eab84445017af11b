import { tag } from '../der/tag.ts';
import { parseTime, wholeSecond } from '../der/time.ts';
import { Fault } from '../fault.ts';
import type { Certificate } from '../x509/certificate.ts';
import { addDuration, parseDuration } from './duration.ts';
import type { ProfileRules } from './language.ts';
import { attempt } from './problems.ts';
import type { Tools } from './template.ts';
import type { Trace } from './values.ts';

interface Validity {
  /** Milliseconds since 1970, whole seconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** The certificate has no expiry of its own; it expires only with the CA. */
  readonly endless: boolean;
}

/** Returns the validity period. Faults: conflict if no certificate of the profile could be valid now. */
type ValidityRules = (now: number, issuer: Certificate, trace?: Trace) => Validity;

/** Clocks of devices may be slow. */
const backdating = 3_600_000;
/** RFC 5280 §4.1.2.5: notAfter of a certificate without a well-defined expiry. */
const latest = Date.UTC(9999, 11, 31, 23, 59, 59);

export function compileValidity(written: ProfileRules['validity'], { problems }: Tools): ValidityRules {
  const duration = written.duration === undefined ? undefined : parseDuration(written.duration);
  const until = written.until === undefined ? undefined : parseUntil(written.until);
  if ((written.duration === undefined) === (written.until === undefined)) {
    problems.add('validity', 'needs either duration or until');
  } else if (written.duration !== undefined && !duration) {
    problems.add('validity.duration', 'is not an ISO 8601 duration such as P2Y, P1Y6M, P398D or PT12H');
  } else if (written.until !== undefined && until === undefined) {
    problems.add('validity.until', 'is not a UTC time such as 9999-12-31T23:59:59Z');
  }
  let last:
    | { readonly second: number; readonly issuer: Certificate; readonly validity: Validity }
    | undefined;
  return (now, issuer, trace) => {
    // All requests within one second get the same result.
    const second = wholeSecond(now);
    if (last?.second === second && last.issuer === issuer && !trace) return last.validity;
    const start = now - backdating;
    const end = Math.min(duration ? addDuration(now, duration) : (until ?? now), latest);
    const notBefore = wholeSecond(Math.max(start, issuer.notBefore));
    const notAfter = wholeSecond(Math.min(end, issuer.notAfter));
    if (notAfter <= now) {
      const what =
        issuer.notAfter <= now ? 'the certificate of the issuing CA' : 'the validity period of the profile';
      throw new Fault('conflict', `validity: ${what} has expired`);
    }
    if (trace) {
      trace(
        'notBefore',
        isoTime(notBefore),
        notBefore > start
          ? 'the CA certificate is not valid before'
          : 'set back an hour, for devices with slow clocks',
      );
      const wanted = written.duration ?? written.until;
      trace(
        'notAfter',
        isoTime(notAfter),
        notAfter < wholeSecond(end)
          ? `the CA certificate expires then; the profile permits ${wanted}`
          : `${wanted}`,
      );
    }
    const validity = { notBefore, notAfter, endless: until === latest };
    last = { second, issuer, validity };
    return validity;
  };
}

const isoTime = (milliseconds: number): string => `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;

function parseUntil(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text)) return undefined;
  const time = attempt(() => parseTime(tag.generalizedTime, text.replace(/[-:T]/g, '')));
  return time instanceof Fault ? undefined : time;
}
