import { systemActor } from '../audit/record.ts';
import type { Configuration, WithConfiguration } from '../configuration/configuration.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { Condition } from '../ports/store.ts';
import {
  openUpstreamStates,
  type UpstreamRequest,
  type UpstreamRequestState,
} from '../records/upstream-request.ts';
import type { WithDamagedRecords } from '../storage/damaged-records.ts';
import { eachRecord, inParallel } from '../storage/each-record.ts';
import { advance } from './advance.ts';
import { refreshChain, upstreamChain } from './chain.ts';
import type { WithCircuits } from './circuits.ts';
import { fail, withdraw } from './failure.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'keyStores' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithDamagedRecords,
    WithSettings {}

const page = 200;
/** How many requests or upstream CAs one run handles in parallel. */
const atOnce = 8;
/** Milliseconds. */
const chainHolds = 3_600_000;
/** The longest run in milliseconds; the next run continues. */
const longestRun = 20_000;

const ended = ['issued', 'failed'] as const satisfies readonly UpstreamRequestState[];

/** Fields that a request may be deleted without. A damaged one is deleted as well. */
const undecoded = ['actor', 'purpose', 'request'] as const satisfies readonly (keyof UpstreamRequest)[];

/** Periodic maintenance of upstream CAs. One instance at a time should run it; a second one does no harm. */
export class UpstreamMaintenance {
  readonly #context: Dependencies;
  readonly #checkedAt = new Map<string, number>();

  constructor(context: Dependencies) {
    this.#context = context;
  }

  async run(): Promise<void> {
    await this.#maintainIssuers();
    // The CA certificates may just have changed, so the configuration is read after that.
    const configuration = await this.#context.configuration.current();
    await this.#advanceDue(configuration);
    await this.#endOverdue(configuration);
    await this.#deleteOld();
  }

  /** Renews our credentials at upstream CAs, and checks whether their CA certificates changed and whether they respond again. */
  async #maintainIssuers(): Promise<void> {
    const { issuers, circuits, clock, configuration } = this.#context;
    await inParallel([...issuers], atOnce, async ([name, issuer]) => {
      if (circuits.isOpen(name)) return;
      await this.#logged(name, () => issuer.maintain?.() ?? Promise.resolve());
      const fresh = clock.now() < (this.#checkedAt.get(name) ?? Number.NEGATIVE_INFINITY) + chainHolds;
      if (fresh && circuits.health(name).ok) return;
      await this.#logged(name, async () => {
        const { cas } = await configuration.current();
        const own = cas.filter(({ record }) => record.key === null && record.issuer === name);
        if (own.length === 0) await upstreamChain(this.#context, name);
        for (const ca of own) await refreshChain(this.#context, ca);
        this.#checkedAt.set(name, clock.now());
      });
    });
  }

  async #logged(issuer: string, what: () => Promise<void>): Promise<void> {
    await what().catch((error: unknown) => {
      this.#context.log.error('maintenance of an upstream CA failed', error, { issuer });
    });
  }

  async #advanceDue(configuration: Configuration): Promise<void> {
    const { circuits, clock } = this.#context;
    const until = clock.now() + longestRun;
    await eachRecord(this.#context, {
      task: 'upstream requests',
      ...this.#requests(openUpstreamStates, 'nextAt', clock.now() + 1),
      without: [],
      atOnce,
      work: async (request) => {
        if (circuits.isOpen(request.issuer) || clock.now() >= until) return;
        await advance(this.#context, configuration, request);
      },
    });
  }

  /** Ends requests that the upstream CA did not decide in time. */
  #endOverdue(configuration: Configuration): Promise<void> {
    return eachRecord(this.#context, {
      task: 'overdue upstream requests',
      ...this.#requests(openUpstreamStates, 'expiresAt', this.#context.clock.now()),
      without: [],
      work: (request) => endOverdue(this.#context, configuration, { ...request, actor: systemActor }),
    });
  }

  #deleteOld(): Promise<void> {
    const { store, clock } = this.#context;
    return eachRecord(this.#context, {
      task: 'old upstream requests',
      ...this.#requests(ended, 'expiresAt', clock.now()),
      without: undecoded,
      work: ({ id }) => store.commit([{ op: 'delete', kind: 'upstreamRequest', id }]),
    });
  }

  #requests(states: readonly UpstreamRequestState[], field: 'nextAt' | 'expiresAt', before: number) {
    const where: Condition<'upstreamRequest'>[] = [
      { field, is: 'less', value: before },
      { field: 'state', is: 'oneOf', value: states },
    ];
    const order = { field, descending: false } as const;
    return { kind: 'upstreamRequest', query: { where, order, limit: page } } as const;
  }
}

function endOverdue(
  context: Dependencies,
  configuration: Configuration,
  request: UpstreamRequest,
): Promise<void> {
  if (request.state === 'received')
    return withdraw(
      context,
      configuration,
      request,
      new Fault('unavailable', 'the certificate could not be confirmed in time'),
    );
  return fail(
    context,
    configuration,
    request,
    new Fault('forbidden', 'the upstream CA did not decide in time'),
    0,
  );
}
