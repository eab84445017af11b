import { pruneSessions } from '../accounts/sessions.ts';
import type { WithThrottle } from '../accounts/throttle.ts';
import { pruneLogs } from '../administration/log-files.ts';
import { expireApprovals } from '../approvals/expiry.ts';
import { Anchors } from '../audit/anchor.ts';
import { systemActor } from '../audit/record.ts';
import type { Crls } from '../ca/crls.ts';
import { linkRoots } from '../ca/root-links.ts';
import { renewTlsCredential } from '../ca/tls-renewal.ts';
import type { WithConfiguration } from '../configuration/configuration.ts';
import { currentSettings } from '../configuration/runtime-settings.ts';
import { expireTransactions } from '../enrolment/transaction-expiry.ts';
import { settleIntents } from '../issuance/issue.ts';
import { countFinishedDays } from '../overview/issued.ts';
import type { Log } from '../ports/platform.ts';
import type { Ports } from '../ports/ports.ts';
import type { WithSettings } from '../ports/settings.ts';
import type { WithDamagedRecords } from '../storage/damaged-records.ts';
import type { WithCircuits } from '../upstream/circuits.ts';
import { UpstreamMaintenance } from '../upstream/maintain.ts';
import { tellOfExpiringCas } from '../webhooks/ca-expiring.ts';
import { pruneDeliveries } from '../webhooks/deliver.ts';
import { notifyExpiring } from '../webhooks/expiring.ts';

interface Dependencies
  extends Ports,
    WithCircuits,
    WithConfiguration,
    WithDamagedRecords,
    WithSettings,
    WithThrottle {}

type Task = () => Promise<unknown>;

/** Milliseconds after which an intent counts as abandoned, because no instance signs for that long. */
const intentGrace = 10 * 60_000;

/** The leases that every running instance keeps trying to hold, for at most a minute at a time. */
export const maintenanceLeases = ['maintenance', 'transactions', 'upstreams'] as const;

/** The periodic work of the service. Leases see to it that one instance does each part at a time. */
export class Maintenance {
  readonly #context: Dependencies;
  readonly #crls: Crls;
  readonly #anchors: Anchors;
  readonly #upstreams: UpstreamMaintenance;

  constructor(context: Dependencies, crls: Crls) {
    this.#context = context;
    this.#crls = crls;
    this.#anchors = new Anchors(context);
    this.#upstreams = new UpstreamMaintenance(context);
  }

  /** Runs the tasks that are due. `holder` identifies this instance in the leases. */
  async run(holder: string): Promise<void> {
    // Upstream tasks run in parallel, so that a slow upstream CA does not delay the others.
    const upstream = this.#upstreamTasks(holder);
    const own = this.#ownTasks(holder);
    const tasks: Task[] = [
      () => own,
      () => upstream,
      // An upstream CA may just have certified a local CA.
      () => this.#crls.generateMissing(systemActor),
    ];
    // Observe the failures of both parallel parts.
    await Promise.allSettled([upstream, own]);
    await inTurn(tasks, this.#context.log);
  }

  /** Releases the leases of `holder`, which runs no task any more, so that another instance can take over at once. */
  async release(holder: string): Promise<void> {
    for (const name of maintenanceLeases) await this.#context.store.lease(name, holder, 0);
  }

  async #upstreamTasks(holder: string): Promise<void> {
    if (await this.#context.store.lease('upstreams', holder, 60)) await this.#upstreams.run();
  }

  async #ownTasks(holder: string): Promise<void> {
    const context = this.#context;
    const { store, clock, throttle, log } = context;
    const tasks: Task[] = [];
    // A separate short lease: clients have been given a time by which their transaction ends.
    if (await store.lease('transactions', holder, 20))
      tasks.push(
        () => expireApprovals(context),
        () => expireTransactions(context, this.#crls),
      );
    if (await store.lease('maintenance', holder, 60))
      tasks.push(
        () => settleIntents(context, clock.now() - intentGrace),
        () => this.#crls.renewDue(),
        () => linkRoots(context),
        () => renewTlsCredential(context),
        () => throttle.prune(),
        () => pruneSessions(context),
        async () => pruneLogs(context, await currentSettings(store)),
        () => this.#anchors.anchorDue(),
        () => notifyExpiring(context),
        () => tellOfExpiringCas(context),
        () => pruneDeliveries(context),
        () => countFinishedDays(context),
      );
    await inTurn(tasks, log);
  }
}

/** Runs every task, whether or not another one failed. Throws the first failure at the end and logs the others. */
async function inTurn(tasks: readonly Task[], log: Log): Promise<void> {
  const failures: unknown[] = [];
  for (const task of tasks) await task().catch((error) => failures.push(error));
  const [first, ...others] = failures;
  for (const error of others) log.error('maintenance failed', error);
  if (failures.length > 0) throw first;
}
