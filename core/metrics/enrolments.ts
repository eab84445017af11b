import { toFault } from '../fault.ts';
import type { EnrolmentRequest, EnrolmentResult } from '../issuance/enrolment-request.ts';
import type { Clock } from '../ports/platform.ts';
import type { Evidence, Protocol, Target } from '../requester/evidence.ts';
import type { Requester } from '../requester/requester.ts';
import { Counter, Histogram, type MetricFamily } from './counters.ts';

/** The two steps of every enrolment, see `Gateway`. */
interface Enrolment {
  admit(evidence: Evidence, target: Target): Promise<Requester>;
  enrol(requester: Requester, ask: EnrolmentRequest): Promise<EnrolmentResult>;
}

/** Seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts enrolments and their durations. Costs well below a microsecond per enrolment. */
export class EnrolmentMetrics {
  readonly #clock: Clock;
  readonly #total = new Counter(
    'postern_enrolments_total',
    'Enrolments and renewals by outcome: issued, pending, refused (rejected by Postern) or failed (defect or outage).',
    ['protocol', 'domain', 'operation', 'outcome'],
  );
  readonly #seconds = new Histogram(
    'postern_enrolment_seconds',
    'Duration of enrolments, from the decoded request to the stored certificate.',
    ['protocol', 'operation', 'outcome'],
    bounds,
  );

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  measured({ admit, enrol }: Enrolment): Enrolment {
    return {
      admit: async (evidence, target) => {
        try {
          return await admit(evidence, target);
        } catch (error) {
          // The domain of a request without credentials is untrusted input.
          if (evidence.kind !== 'none') this.#failed(target.protocol, '', 'admit', error);
          throw error;
        }
      },
      enrol: async (requester, ask) => {
        const { protocol } = requester.target;
        const domain = requester.domain.uniqueName;
        const began = this.#clock.now();
        try {
          const result = await enrol(requester, ask);
          this.#total.add(protocol, domain, ask.operation, result.kind);
          this.#took(began, protocol, ask.operation, result.kind);
          return result;
        } catch (error) {
          this.#took(began, protocol, ask.operation, this.#failed(protocol, domain, ask.operation, error));
          throw error;
        }
      },
    };
  }

  #took(began: number, protocol: Protocol, operation: string, outcome: string): void {
    this.#seconds.observe(Math.max(0, this.#clock.now() - began) / 1000, protocol, operation, outcome);
  }

  /** Counts a failure and returns its outcome. */
  #failed(protocol: Protocol, domain: string, operation: string, error: unknown): string {
    const { code } = toFault(error);
    const outcome = code === 'internal' || code === 'unavailable' ? 'failed' : 'refused';
    this.#total.add(protocol, domain, operation, outcome);
    return outcome;
  }

  families(): readonly MetricFamily[] {
    return [this.#total.family(), this.#seconds.family()];
  }
}
