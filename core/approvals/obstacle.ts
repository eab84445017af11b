import type { Store, Write } from '../ports/store.ts';
import type { ApprovalDecision, ApprovalSummary } from '../records/approval.ts';

/** Why an account cannot approve a request. */
export const obstacles = ['ownRequest', 'decidedAlready', 'custodian'] as const;
export type Obstacle = (typeof obstacles)[number];

type Reads = Pick<Store, 'get'>;
type About = Pick<ApprovalSummary, 'device' | 'requester'>;

/** Returns why an account cannot approve the request, or null. `account`: see `accountKey`. */
export async function obstacleTo(
  store: Reads,
  account: string,
  approval: About,
  decisions: readonly Pick<ApprovalDecision, 'approver'>[],
): Promise<Obstacle | null> {
  if (account === approval.requester) return 'ownRequest';
  if (decisions.some(({ approver }) => approver === account)) return 'decidedAlready';
  return (await custodyOf(store, approval)).custodians.has(account) ? 'custodian' : null;
}

/** The records whose custodians can act as a device: the device and its configuration. */
interface Custody {
  readonly custodians: ReadonlySet<string>;
  /** Let a commit fail with Fault conflict if somebody has become a custodian since the records were read. */
  readonly unchanged: readonly Write[];
}

/** Returns who can act as the device that requests, see `core/access/custody.ts`. */
export async function custodyOf(store: Reads, { device: id }: About): Promise<Custody> {
  const device = id === null ? undefined : await store.get('device', id);
  if (!device) return { custodians: new Set(), unchanged: [] };
  const { onboardingConfig, noOnboardingConfig, custodians } = device;
  const [onboarding, noOnboarding] = await Promise.all([
    onboardingConfig === null ? undefined : store.get('onboardingConfig', onboardingConfig),
    noOnboardingConfig === null ? undefined : store.get('noOnboardingConfig', noOnboardingConfig),
  ]);
  const isSame = { custodians, onboardingConfig, noOnboardingConfig };
  const unchanged: Write[] = [{ op: 'require', kind: 'device', id: device.id, where: isSame }];
  for (const [kind, config] of [
    ['onboardingConfig', onboarding],
    ['noOnboardingConfig', noOnboarding],
  ] as const) {
    if (config)
      unchanged.push({ op: 'require', kind, id: config.id, where: { custodians: config.custodians } });
  }
  const all = [device, onboarding, noOnboarding].flatMap((one) => one?.custodians ?? []);
  return { custodians: new Set(all), unchanged };
}
