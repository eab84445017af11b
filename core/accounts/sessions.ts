import { audit, recordRefusal } from '../audit/record.ts';
import { currentSettings, type RuntimeSettings } from '../configuration/runtime-settings.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import { newHandle, type Write } from '../ports/store.ts';
import type { Session, User } from '../records/account.ts';
import type { Actor } from '../records/audit-event.ts';
import { commitFor } from '../storage/commit.ts';

type Dependencies = Pick<Ports, 'clock' | 'log' | 'store'>;

const newSession = newHandle('session');

/** The contents of the tokens of a session at one moment. */
export interface SessionGrant {
  readonly user: number;
  readonly session: number;
  /** The number of refreshes; a refresh token is valid for one generation. */
  readonly generation: number;
  /** The expiry of the access token and of the refresh token, ms since 1970. */
  readonly accessUntil: number;
  readonly refreshUntil: number;
}

export const tokenNotValid = (): Fault => new Fault('unauthenticated', 'the token is not valid');

/** Returns whether the user's password, role and activation are those of the sign-in. */
export const belongsTo = (session: Session, user: User): boolean =>
  session.user === user.id &&
  session.userGeneration === user.generation &&
  user.isActive &&
  !session.isRevoked;

/**
 * The guard of a commit that opens or continues a session. If password, role or activation changed before, the commit
 * fails (Fault conflict); a later change ends the session.
 */
export const unchanged = ({ id, passwordHash, generation }: User): Write => ({
  op: 'require',
  kind: 'user',
  id,
  where: { passwordHash, generation, isActive: true },
});

/** Opens a session for the state of `user` after `writes` (with their guards). Faults: conflict. */
export async function openSession(
  context: Dependencies,
  user: Pick<User, 'id' | 'generation'>,
  writes: readonly Write[],
): Promise<SessionGrant> {
  const settings = await currentSettings(context.store);
  const now = context.clock.now();
  const expiresAt = now + settings.refreshTokenSeconds * 1000;
  const values = {
    createdAt: now,
    user: user.id,
    userGeneration: user.generation,
    generation: 0,
    expiresAt,
    isRevoked: false,
  };
  const insert: Write = { op: 'insert', kind: 'session', values, as: newSession };
  const id = await commitFor(context.store, [insert, ...writes], newSession);
  return grant(context, { id, ...values }, settings);
}

/** See `Accounts.refresh`. */
export async function refreshSession(
  context: Dependencies,
  id: number,
  generation: number,
  address: string,
): Promise<SessionGrant> {
  const { store, clock } = context;
  const session = await store.get('session', id);
  const unknown: Actor = { kind: 'unknown', id: null, name: '', address };
  if (!session || session.isRevoked || session.expiresAt <= clock.now()) {
    return refuseRefresh(context, unknown, 'the session has ended');
  }
  const user = await store.get('user', session.user);
  const actor: Actor = { kind: 'user', id: session.user, name: user?.username ?? '', address };
  if (!user?.isActive) return refuseRefresh(context, actor, 'the user is not active');
  if (!belongsTo(session, user)) return refuseRefresh(context, actor, 'the session has ended');
  if (generation !== session.generation) {
    // Another client has a copy of the token, so the session ends for everybody.
    await store.commit([
      { op: 'update', kind: 'session', id, set: { isRevoked: true } },
      audit(context, actor, {
        action: 'account.sessionRevoked',
        object: `user:${user.id}`,
        outcome: 'refused',
        detail: { reason: 'a refresh token was used again' },
      }),
    ]);
    return refuseRefresh(context, actor, 'a refresh token was used again');
  }
  const settings = await currentSettings(store);
  const expiresAt = clock.now() + settings.refreshTokenSeconds * 1000;
  const next = { generation: generation + 1, expiresAt };
  try {
    await store.commit([
      { op: 'update', kind: 'session', id, where: { generation, isRevoked: false }, set: next },
      unchanged(user),
    ]);
  } catch (error) {
    if (error instanceof Fault && error.code === 'conflict') {
      const reason = 'a refresh token was used twice concurrently, or the user was modified concurrently';
      return refuseRefresh(context, actor, reason);
    }
    throw error;
  }
  return grant(context, { ...session, ...next }, settings);
}

/** Deletes expired sessions, a thousand at a time; the next call continues. */
export async function pruneSessions({ store, clock }: Pick<Ports, 'clock' | 'store'>): Promise<void> {
  const { records } = await store.list('session', {
    where: [{ field: 'expiresAt', is: 'less', value: clock.now() }],
    order: { field: 'expiresAt', descending: false },
    limit: 1000,
  });
  if (records.length > 0)
    await store.commit(records.map(({ id }) => ({ op: 'delete', kind: 'session', id })));
}

async function refuseRefresh(context: Dependencies, actor: Actor, reason: string): Promise<never> {
  const event = { action: 'account.refresh', object: '', outcome: 'refused', detail: { reason } } as const;
  await recordRefusal(context, audit(context, actor, event));
  throw tokenNotValid();
}

const grant = (
  { clock }: Pick<Ports, 'clock'>,
  { id, user, generation, expiresAt }: Pick<Session, 'id' | 'user' | 'generation' | 'expiresAt'>,
  { accessTokenSeconds }: RuntimeSettings,
): SessionGrant => ({
  user,
  session: id,
  generation,
  accessUntil: Math.min(clock.now() + accessTokenSeconds * 1000, expiresAt),
  refreshUntil: expiresAt,
});
