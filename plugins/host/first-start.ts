import { Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Service } from './service.ts';
import { isUnfinished } from './workers.ts';

/** `unfinished`: the store rejects writes, but existing data can be served. */
export type Start = 'done' | 'stopped' | 'unfinished';

/** Returns the result of the start in the process that started this worker. */
export const startOfParent = (): Start => (isUnfinished() ? 'unfinished' : 'done');

/**
 * Creates what does not exist yet (the PKI, the administrator) and prints the password of a new administrator. Returns `stopped` if
 * a signal arrived; while it waits for another instance, immediately. If the store rejects writes (because the disk is full)
 * and an earlier start has completed, the gateway serves existing data: clients need CRLs and CA certificates, and health
 * reports the problem.
 */
export async function firstStart({ gateway, log }: Service, stopped: Promise<string>): Promise<Start> {
  const given = process.env.POSTERN_ADMIN_PASSWORD || undefined;
  const adminPassword = given ?? randomPassword();
  const halted = new Error('stopped');
  let waits = false;
  const pause = async (): Promise<void> => {
    if (!waits)
      log.info(
        'waiting for another instance, which is starting or was killed during its start within the last 30 seconds',
      );
    waits = true;
    if ((await Promise.race([stopped, Bun.sleep(200)])) !== undefined) throw halted;
  };
  const made = await gateway
    .bootstrap({ adminPassword, holder: crypto.randomUUID() }, pause)
    .catch(async (error) => {
      if (error === halted) return 'stopped' as const;
      if (!(error instanceof Fault) || error.code !== 'unavailable' || !(await canServe(gateway)))
        throw error;
      log.error('the database cannot be written: serving existing data only', error);
      return 'unfinished' as const;
    });
  if (typeof made === 'string') return made;
  const result = (await Promise.race([stopped, undefined])) === undefined ? 'done' : 'stopped';
  if (!made.adminCreated) return result;
  log.info('first start: created the PKI and the user admin');
  console.log(
    given === undefined
      ? `The user admin has been created. Its password, which is shown only once: ${adminPassword}`
      : 'The user admin has been created, with the password in POSTERN_ADMIN_PASSWORD.',
  );
  return result;
}

/** Whether an earlier start has created the TLS credential of the listener. */
const canServe = (gateway: Gateway): Promise<boolean> =>
  gateway.tlsCredential().then(
    () => true,
    () => false,
  );

/** Returns a task that completes an unfinished start, once. An earlier start has created the administrator already. */
export function finishStart({ gateway, log }: Service): () => Promise<void> {
  let finished = false;
  return async () => {
    if (finished) return;
    const refuse = () => Promise.reject(new Fault('unavailable', 'another instance is starting'));
    await gateway.bootstrap({ adminPassword: randomPassword(), holder: crypto.randomUUID() }, refuse);
    finished = true;
    log.info('start completed');
  };
}

/** Returns a password of 120 bits without characters that look alike. */
function randomPassword(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  const picked = [...crypto.getRandomValues(new Uint8Array(24))].map(
    (octet) => letters[octet % letters.length],
  );
  return picked.join('').replace(/.{6}(?=.)/g, '$&-');
}
