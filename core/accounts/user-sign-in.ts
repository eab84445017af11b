import type { Principal } from '../access/principal.ts';
import type { AuditAction } from '../audit/actions.ts';
import { audit, recordRefusal, shorten } from '../audit/record.ts';
import { Fault } from '../fault.ts';
import type { Ports } from '../ports/ports.ts';
import type { User } from '../records/account.ts';
import type { Actor } from '../records/audit-event.ts';
import { checkPassword } from './password.ts';
import { openSession, type SessionGrant, unchanged } from './sessions.ts';
import type { WithThrottle } from './throttle.ts';
import type { Attempt } from './throttle-subjects.ts';

interface Dependencies
  extends Pick<Ports, 'clock' | 'entropy' | 'log' | 'passwords' | 'store'>,
    WithThrottle {}

interface Refusal {
  readonly action: AuditAction;
  readonly actor: Actor;
  readonly fault: Fault;
}

/** Verifies a user's password, for sign-in and for a change of the password. */
export function userSignIn(context: Dependencies) {
  const { store, passwords, throttle } = context;
  let dummyHash: Promise<string> | undefined;

  /** Counts and audits a wrong password. All causes get the same response. */
  async function refuse(attempt: Attempt, { action, actor, fault }: Refusal): Promise<never> {
    await throttle.failed(attempt);
    const detail = { reason: 'wrong credentials' };
    await recordRefusal(context, audit(context, actor, { action, object: '', outcome: 'refused', detail }));
    throw fault;
  }

  /** Returns the active user with this name and password. Faults: that of `refusal`, tooManyRequests. */
  async function verified(attempt: Attempt, password: string, refusal: Refusal): Promise<User> {
    const standing = await throttle.check(attempt);
    const user = await store.find('user', { username: attempt.name });
    dummyHash ??= passwords.hash(Buffer.from(context.entropy.bytes(16)).toString('hex'));
    // Verifies a hash in every case, so that an unknown name takes as long as a wrong password.
    const same = await passwords.verify(password, user?.passwordHash ?? (await dummyHash));
    throttle.recheck(attempt, standing);
    return user?.isActive && same ? user : refuse(attempt, refusal);
  }

  /** Commits a sign-in. If the user changed since it was read, reports a wrong password. */
  async function committed(
    work: Promise<SessionGrant>,
    attempt: Attempt,
    refusal: Refusal,
  ): Promise<SessionGrant> {
    const grant = await work.catch((error) => {
      if (error instanceof Fault && error.code === 'conflict') return refuse(attempt, refusal);
      throw error;
    });
    throttle.signedIn(attempt);
    return grant;
  }

  return {
    /** See `Accounts.signIn`. */
    async signIn(username: string, password: string, address: string): Promise<SessionGrant> {
      const attempt: Attempt = { realm: 'user', name: username, address };
      const refusal: Refusal = {
        action: 'account.signIn',
        actor: { kind: 'unknown', id: null, name: shorten(username), address },
        fault: new Fault('unauthenticated', 'wrong user name or password', { id: 'wrong_credentials' }),
      };
      const user = await verified(attempt, password, refusal);
      const actor: Actor = { kind: 'user', id: user.id, name: user.username, address };
      const event = audit(context, actor, { action: 'account.signIn', object: `user:${user.id}` });
      return committed(openSession(context, user, [unchanged(user), event]), attempt, refusal);
    },

    /** See `Accounts.changePassword`. */
    async changePassword({ actor }: Principal, current: string, next: string): Promise<SessionGrant> {
      if (actor.kind !== 'user') throw new Fault('forbidden', 'only a user has a password');
      const field = 'newPassword';
      checkPassword(passwords, next, actor.name, field);
      if (next === current)
        throw new Fault('malformed', 'the new password must differ from the current one', {
          id: 'password_unchanged',
          field,
        });
      const attempt: Attempt = { realm: 'user', name: actor.name, address: actor.address };
      const refusal: Refusal = {
        action: 'user.password',
        actor,
        fault: new Fault('malformed', 'the current password is wrong', {
          id: 'current_password_wrong',
          field: 'currentPassword',
        }),
      };
      const user = await verified(attempt, current, refusal);
      return committed(replacePassword(user, actor, next), attempt, refusal);
    },
  };

  async function replacePassword(user: User, actor: Actor, password: string): Promise<SessionGrant> {
    const passwordHash = await passwords.hash(password);
    const generation = user.generation + 1;
    return openSession(context, { id: user.id, generation }, [
      {
        op: 'update',
        kind: 'user',
        id: user.id,
        where: { passwordHash: user.passwordHash, generation: user.generation, isActive: true },
        set: { passwordHash, generation, mustChangePassword: false },
      },
      audit(context, actor, { action: 'user.password', object: `user:${user.id}` }),
    ]);
  }
}
