import { systemActor } from '../audit/record.ts';
import type { Configuration, WithConfiguration } from '../configuration/configuration.ts';
import { Fault, toFault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { Condition } from '../ports/store.ts';
import type { UpstreamRequest, UpstreamRequestState } from '../records/upstream-request.ts';
import { advance } from './advance.ts';
import { refreshChain, upstreamChain } from './chain.ts';
import type { WithCircuits } from './circuits.ts';
import { fail, withdraw } from './failure.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'issuers' | 'keyStores' | 'log' | 'store'>,
    WithCircuits,
    WithConfiguration,
    WithSettings {}

const page = 200;
/** Requests that one run takes on at once, and upstreams' chains are looked at. */
const atOnce = 8;
/** Milliseconds. */
const chainHolds = 3_600_000;
/** After that much of one run the rest is left to the next. */
const longestRun = 20_000;

const open = ['asked', 'pending', 'received'] as const satisfies readonly UpstreamRequestState[];
const ended = ['issued', 'failed'] as const satisfies readonly UpstreamRequestState[];

/** What is to be done about upstream CAs now and then. To be called by one instance at a time; a second one does no harm. */
export class UpstreamMaintenance {
  readonly #context: Dependencies;
  readonly #lookedAt = new Map<string, number>();

  constructor(context: Dependencies) {
    this.#context = context;
  }

  async tend(): Promise<void> {
    await this.#tendIssuers();
    // Looked up again: the CA certificates may just have changed.
    const configuration = await this.#context.configuration.current();
    await this.#goOn(configuration);
    await this.#giveUp(configuration);
    await this.#forget();
  }

  /** Renews what upstreams know us by, and finds out when they change their CA certificates, or answer again. */
  async #tendIssuers(): Promise<void> {
    const { issuers, circuits, clock, configuration } = this.#context;
    await inParallel([...issuers], async ([name, issuer]) => {
      if (circuits.isOpen(name)) return;
      await this.#logged(name, () => issuer.maintain?.() ?? Promise.resolve());
      const fresh = clock.now() < (this.#lookedAt.get(name) ?? Number.NEGATIVE_INFINITY) + chainHolds;
      if (fresh && circuits.health(name).ok) return;
      await this.#logged(name, async () => {
        const { cas } = await configuration.current();
        const own = cas.filter(({ record }) => record.key === null && record.issuer === name);
        if (own.length === 0) await upstreamChain(this.#context, name);
        for (const ca of own) await refreshChain(this.#context, ca);
        this.#lookedAt.set(name, clock.now());
      });
    });
  }

  async #logged(issuer: string, what: () => Promise<void>): Promise<void> {
    await what().catch((error: unknown) => {
      this.#context.log.error('maintenance of an upstream CA failed', error, { issuer });
    });
  }

  async #goOn(configuration: Configuration): Promise<void> {
    const { circuits, clock } = this.#context;
    const due = await this.#list(open, 'nextAt', clock.now() + 1);
    const reachable = due.filter(({ issuer }) => !circuits.isOpen(issuer));
    const until = clock.now() + longestRun;
    await inParallel(reachable, async (request) => {
      if (clock.now() < until) await advance(this.#context, configuration, request);
    });
  }

  /** What the upstream CA did not decide in time. */
  async #giveUp(configuration: Configuration): Promise<void> {
    const { clock, log } = this.#context;
    for (const request of await this.#list(open, 'expiresAt', clock.now())) {
      await giveUp(this.#context, configuration, { ...request, actor: systemActor }).catch((error: unknown) =>
        log.error('an upstream request could not be given up', toFault(error), { request: request.id }),
      );
    }
  }

  async #forget(): Promise<void> {
    const { store, clock } = this.#context;
    const past = await this.#list(ended, 'expiresAt', clock.now());
    if (past.length === 0) return;
    await store.commit(past.map(({ id }) => ({ op: 'delete', kind: 'upstreamRequest', id })));
  }

  async #list(
    states: readonly UpstreamRequestState[],
    field: 'nextAt' | 'expiresAt',
    before: number,
  ): Promise<readonly UpstreamRequest[]> {
    const where: Condition<'upstreamRequest'>[] = [
      { field, is: 'less', value: before },
      { field: 'state', is: 'oneOf', value: states },
    ];
    const order = { field, descending: false } as const;
    return (await this.#context.store.list('upstreamRequest', { where, order, limit: page })).records;
  }
}

function giveUp(
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

async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
