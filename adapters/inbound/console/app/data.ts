import { useEffect, useRef, useState } from 'preact/hooks';
import { type ListPage, list, read } from './api.ts';

/** What has been asked for, as far as it is there. */
export interface Asked<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly waiting: boolean;
  /** Asks again; what is there stays until the answer comes. */
  reload(): void;
}

/** Asks when the component is drawn, and again whenever `key` changes. Without a key it does not ask. */
export function useAsked<T>(key: string | undefined, ask: (abort: AbortSignal) => Promise<T>): Asked<T> {
  const [state, setState] = useState<{
    key?: string | undefined;
    data?: T;
    error?: unknown;
    waiting: boolean;
  }>({
    waiting: key !== undefined,
  });
  const [round, setRound] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;
  useEffect(() => {
    if (key === undefined) return;
    const abort = new AbortController();
    setState((before) => (before.key === key ? { ...before, waiting: true } : { key, waiting: true }));
    asking
      .current(abort.signal)
      .then((data) => !abort.signal.aborted && setState({ key, data, waiting: false }))
      .catch((error: unknown) => !abort.signal.aborted && setState({ key, error, waiting: false }));
    return () => abort.abort();
  }, [key, round]);
  const current = state.key === key;
  return {
    data: current ? state.data : undefined,
    error: current ? state.error : undefined,
    waiting: key !== undefined && (state.waiting || !current),
    reload: () => setRound((n) => n + 1),
  };
}

/** `GET` of a path of the API. */
export const useRead = <T>(path: string | undefined): Asked<T> =>
  useAsked(path, (abort) => read<T>(path!, abort));

/** A page of a list of the API. */
export const useList = <T>(path: string | undefined): Asked<ListPage<T>> =>
  useAsked(path, (abort) => list<T>(path!, abort));

const remembered = new Map<string, { readonly at: number; readonly answer: Promise<unknown> }>();
const rememberedFor = 30_000;

/** As `useRead`, for what many places want at once: an answer serves for half a minute. */
export const useShared = <T>(path: string | undefined): Asked<T> =>
  useAsked(path, () => {
    const known = remembered.get(path!);
    if (known && Date.now() - known.at < rememberedFor) return known.answer as Promise<T>;
    const answer = read<T>(path!);
    remembered.set(path!, { at: Date.now(), answer });
    answer.catch(() => remembered.delete(path!));
    return answer;
  });

/** After a change of what `useShared` may remember. */
export const forget = (path: string): void => {
  for (const key of remembered.keys()) if (key.startsWith(path)) remembered.delete(key);
};
