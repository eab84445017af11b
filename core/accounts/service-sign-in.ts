import { timingSafeEqual } from 'node:crypto';
import { mintPrincipal, type Principal } from '../access/principal.ts';
import { audit, recordRefusal, shorten } from '../audit/record.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { ServiceAccount } from '../records/account.ts';
import type { Actor } from '../records/audit-event.ts';
import { hashOfSecret } from './service-accounts.ts';
import type { WithThrottle } from './throttle.ts';
import type { Attempt } from './throttle-subjects.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'store'>, WithThrottle {}

/** Milliseconds. */
const lifetime = 3_600_000;

/** The contents of a service account's token. */
export interface ServiceGrant {
  readonly account: number;
  /** The generation of its secret. */
  readonly generation: number;
  /** The token's lifetime in milliseconds, and its expiry in ms since 1970. */
  readonly lifetime: number;
  readonly until: number;
}

/** See `Accounts.signInService`. */
export async function signInService(
  context: Dependencies,
  clientId: string,
  clientSecret: string,
  address: string,
): Promise<ServiceGrant> {
  const attempt: Attempt = { realm: 'serviceAccount', name: clientId, address };
  const standing = await context.throttle.check(attempt);
  const id = /^sa_([1-9]\d{0,14})$/.exec(clientId)?.[1];
  const account = id === undefined ? undefined : await context.store.get('serviceAccount', Number(id));
  // Always compares, so that an unknown id takes as long as a wrong secret.
  const expected = account?.secretHash ?? context.entropy.bytes(32);
  const same = timingSafeEqual(hashOfSecret(clientSecret), expected);
  context.throttle.recheck(attempt, standing);
  const refuse = async (): Promise<never> => {
    await context.throttle.failed(attempt);
    const actor: Actor = { kind: 'unknown', id: null, name: shorten(clientId), address };
    const detail = { reason: 'wrong credentials' };
    await recordRefusal(
      context,
      audit(context, actor, { action: 'serviceAccount.signIn', object: '', outcome: 'refused', detail }),
    );
    throw new Fault('unauthenticated', 'wrong client id or client secret');
  };
  if (!account?.isActive || !same) return refuse();
  const { generation } = account;
  const event = { action: 'serviceAccount.signIn', object: `serviceAccount:${account.id}` } as const;
  try {
    await context.store.commit([
      // The commit fails if the secret, role or activation changed since they were read.
      { op: 'require', kind: 'serviceAccount', id: account.id, where: { generation, isActive: true } },
      audit(context, actorOf(account, address), event),
    ]);
  } catch (error) {
    if (error instanceof Fault && error.code === 'conflict') return refuse();
    throw error;
  }
  context.throttle.signedIn(attempt);
  return { account: account.id, generation, lifetime, until: context.clock.now() + lifetime };
}

/** See `Accounts.servicePrincipal`. */
export async function servicePrincipal(
  context: Pick<Ports, 'store'>,
  id: number,
  generation: number,
  address: string,
): Promise<Principal> {
  const account = await context.store.get('serviceAccount', id);
  const role = account && (await context.store.get('role', account.role));
  if (!account?.isActive || !role || account.generation !== generation) {
    throw new Fault('unauthenticated', 'the token is not valid');
  }
  return mintPrincipal(actorOf(account, address), role.permissions);
}

const actorOf = ({ id, uniqueName }: ServiceAccount, address: string): Actor => ({
  kind: 'serviceAccount',
  id,
  name: uniqueName,
  address,
});
