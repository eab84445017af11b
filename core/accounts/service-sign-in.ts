import { timingSafeEqual } from 'node:crypto';
import { mintPrincipal, type Principal } from '../access/principal.ts';
import { audit, brief, recordRefusal } from '../audit/record.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { ServiceAccount } from '../records/account.ts';
import type { Actor } from '../records/audit-event.ts';
import { hashOfSecret } from './service-accounts.ts';
import type { WithThrottle } from './throttle.ts';

interface Dependencies extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'store'>, WithThrottle {}

/** Milliseconds. */
const lifetime = 3_600_000;

/** What the token given out for a service account says. */
export interface ServiceGrant {
  readonly account: number;
  /** Of its secret. */
  readonly generation: number;
  /** Milliseconds that the token is good for, and ms since 1970 until then. */
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
  context.throttle.check(clientId, address);
  const id = /^sa_([1-9]\d{0,14})$/.exec(clientId)?.[1];
  const account = id === undefined ? undefined : await context.store.get('serviceAccount', Number(id));
  // Always compared, so that an unknown id takes as long as a wrong secret.
  const expected = account?.secretHash ?? context.entropy.bytes(32);
  const same = timingSafeEqual(hashOfSecret(clientSecret), expected);
  // Again: of many guesses that come at once, all were let in before the first of them had failed.
  context.throttle.check(clientId, address);
  if (!account?.isActive || !same) {
    await context.throttle.failed(clientId, address);
    const actor: Actor = { kind: 'unknown', id: null, name: brief(clientId), address };
    const detail = { reason: 'wrong credentials' };
    await recordRefusal(
      context,
      audit(context, actor, { action: 'serviceAccount.signIn', object: '', outcome: 'refused', detail }),
    );
    throw new Fault('unauthenticated', 'wrong client id or client secret');
  }
  const event = { action: 'serviceAccount.signIn', object: `serviceAccount:${account.id}` };
  await context.store.commit([audit(context, actorOf(account, address), event)]);
  const { generation } = account;
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
