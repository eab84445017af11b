import { Fault } from '#core/fault.ts';
import type { Gateway } from '#core/gateway.ts';
import type { Service } from './service.ts';
import { isUnfinished } from './workers.ts';

/** `unfinished`: the store takes no writes, but what was made earlier can be served. */
export type Start = 'done' | 'stopped' | 'unfinished';

export const leftByParent = (): Start => (isUnfinished() ? 'unfinished' : 'done');

/**
 * Makes what is not there yet, and tells the operator of the administrator that it made. `stopped` when that came meanwhile; while it
 * waits for another instance, at once. Where the store cannot be written (its disk is full) and there is something to serve, that is
 * served: CRLs and CA certificates are needed then as well, and health says what is wrong.
 */
export async function firstStart({ gateway, log }: Service, stopped: Promise<string>): Promise<Start> {
  const given = process.env.POSTERN_ADMIN_PASSWORD || undefined;
  const adminPassword = given ?? randomPassword();
  const halted = new Error('stopped');
  let waits = false;
  const pause = async (): Promise<void> => {
    if (!waits)
      log.info(
        'waiting: another instance is starting, or was killed during its start within the last 30 seconds',
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
      log.error('the store cannot be written: serving existing data only', error);
      return 'unfinished' as const;
    });
  if (typeof made === 'string') return made;
  const goesOn = (await Promise.race([stopped, undefined])) === undefined ? 'done' : 'stopped';
  if (!made.adminCreated) return goesOn;
  log.info('first start: created the PKI and the user admin');
  console.log(
    given === undefined
      ? `The user admin has been created. Its password, shown this once: ${adminPassword}`
      : 'The user admin has been created, with the password in POSTERN_ADMIN_PASSWORD.',
  );
  return goesOn;
}

/** Whether an earlier start has made what a listener needs. */
const canServe = (gateway: Gateway): Promise<boolean> =>
  gateway.tlsCredential().then(
    () => true,
    () => false,
  );

/** Does what a start has left undone, once. Whether there is an administrator was seen to by the first start of all. */
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

/** 120 bits, without characters that look alike. */
function randomPassword(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  const picked = [...crypto.getRandomValues(new Uint8Array(24))].map(
    (octet) => letters[octet % letters.length],
  );
  return picked.join('').replace(/.{6}(?=.)/g, '$&-');
}
