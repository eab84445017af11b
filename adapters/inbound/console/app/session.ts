import { computed, signal } from '@preact/signals';
import { ApiError, call, callAsNobody, useBearer } from './api.ts';

/**
 * Tokens stay in this origin: no cookie carries them, so no other site can make this browser use them. All tabs share one
 * session, and a refresh token used twice would end it (RFC 9700 §4.14.2): so one tab at a time refreshes, under a lock, and looks
 * first whether another has done so. IndexedDB rather than localStorage, because what one tab has written the next one reads.
 */
interface Tokens {
  readonly access: string;
  readonly refresh: string;
}

/** Who is signed in. */
export interface Account {
  readonly id: number;
  readonly kind: 'user' | 'serviceAccount';
  readonly name: string;
  readonly role: { readonly id: number; readonly unique_name: string };
  readonly permissions: readonly string[];
  /** Until the password has been changed, the API refuses everything else. */
  readonly must_change_password: boolean;
}

type State =
  | { readonly is: 'unknown' | 'nobody' | 'refused' }
  /** There are tokens, but the service could not be asked whose they are. */
  | { readonly is: 'unreached'; readonly error: unknown }
  | { readonly is: 'signedIn'; readonly account: Account };

export const session = signal<State>({ is: 'unknown' });
const granted = computed<ReadonlySet<string>>(
  () => new Set(session.value.is === 'signedIn' ? session.value.account.permissions : []),
);

/** Whether the role allows it; the API decides again. */
export const may = (permission: string | undefined): boolean =>
  permission === undefined || granted.value.has(permission);

const lock = 'postern-session';
const others = new BroadcastChannel(lock);
let tokens: Tokens | undefined;
let refreshing: Promise<string | undefined> | undefined;

const opened = new Promise<IDBDatabase>((resolve, reject) => {
  const request = indexedDB.open('postern', 1);
  request.onupgradeneeded = () => request.result.createObjectStore('session');
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

async function stored(mode: IDBTransactionMode, use: (of: IDBObjectStore) => IDBRequest): Promise<unknown> {
  const transaction = (await opened).transaction('session', mode);
  const request = use(transaction.objectStore('session'));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(transaction.error);
  });
}

const load = async (): Promise<Tokens | undefined> =>
  (await stored('readonly', (of) => of.get('tokens'))) as Tokens | undefined;

async function keep(next: Tokens | undefined): Promise<void> {
  tokens = next;
  await stored('readwrite', (of) => (next ? of.put(next, 'tokens') : of.delete('tokens')));
}

useBearer({
  token: async () => tokens?.access,
  another(refused) {
    refreshing ??= navigator.locks
      .request(lock, () => refresh(refused))
      .finally(() => {
        refreshing = undefined;
      });
    return refreshing;
  },
});

async function refresh(refused: string): Promise<string | undefined> {
  const current = await load();
  if (current && current.access !== refused) {
    tokens = current;
    return current.access;
  }
  if (current) {
    try {
      const response = await callAsNobody('POST', '/api/token/refresh/', {
        body: { refresh: current.refresh },
      });
      await keep((await response.json()) as Tokens);
      return tokens?.access;
    } catch (error) {
      if (!(error instanceof ApiError) || ![400, 401, 403].includes(error.status)) throw error;
    }
  }
  await end();
  return undefined;
}

async function end(): Promise<void> {
  await keep(undefined);
  session.value = { is: 'nobody' };
  others.postMessage('changed');
}

/** Finds out who is signed in. */
export async function resume(): Promise<void> {
  tokens = await load();
  if (!tokens) {
    session.value = { is: 'nobody' };
    return;
  }
  try {
    const account = (await (await call('GET', '/api/me/')).json()) as Account;
    session.value = account.kind === 'user' ? { is: 'signedIn', account } : { is: 'refused' };
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) session.value = { is: 'nobody' };
    else session.value = { is: 'unreached', error };
  }
}

others.onmessage = () => void resume();

/** Errors: ApiError, NoAnswer. */
export async function signIn(username: string, password: string): Promise<void> {
  const response = await callAsNobody('POST', '/api/token/', { body: { username, password } });
  await keep((await response.json()) as Tokens);
  await resume();
  others.postMessage('changed');
}

/** All other sessions of the user end; this one goes on with the tokens of the response. Errors: ApiError, NoAnswer. */
export async function changePassword(current_password: string, new_password: string): Promise<void> {
  const body = { current_password, new_password };
  const response = await call('POST', '/api/me/password/', { body });
  await keep((await response.json()) as Tokens);
  await resume();
  others.postMessage('changed');
}

/** Ends the session here and at the service; here also when the service does not answer. */
export async function signOut(): Promise<void> {
  const refresh = tokens?.refresh;
  await end();
  if (refresh !== undefined)
    await callAsNobody('POST', '/api/token/revoke/', { body: { refresh }, timeLimit: 5000 }).catch(() => {});
}
