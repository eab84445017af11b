import type { Store } from '../ports/store.ts';
import type { ApprovalDecision, ApprovalSummary } from '../records/approval.ts';

/** Why an account cannot approve a request. */
export const obstacles = ['ownRequest', 'decidedAlready', 'custodian'] as const;
export type Obstacle = (typeof obstacles)[number];

type Reads = Pick<Store, 'get'>;
type About = Pick<ApprovalSummary, 'device' | 'requester'>;

/** `account` as `accountKey` names it; null: nothing stands in its way. */
export async function obstacleTo(
  store: Reads,
  account: string,
  approval: About,
  decisions: readonly Pick<ApprovalDecision, 'approver'>[],
): Promise<Obstacle | null> {
  if (account === approval.requester) return 'ownRequest';
  if (decisions.some(({ approver }) => approver === account)) return 'decidedAlready';
  return (await isCustodian(store, account, approval)) ? 'custodian' : null;
}

/** Whether the account can act as the device that requests it, see `core/access/custody.ts`. */
export async function isCustodian(store: Reads, account: string, { device: id }: About): Promise<boolean> {
  const device = id === null ? undefined : await store.get('device', id);
  if (!device) return false;
  const { onboardingConfig, noOnboardingConfig } = device;
  const configs = await Promise.all([
    onboardingConfig === null ? undefined : store.get('onboardingConfig', onboardingConfig),
    noOnboardingConfig === null ? undefined : store.get('noOnboardingConfig', noOnboardingConfig),
  ]);
  return [device, ...configs].some((one) => one?.custodians.includes(account));
}
