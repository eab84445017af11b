import { useEffect } from 'preact/hooks';
import { useRead } from '../../data.ts';
import { messages } from '../../language.ts';
import { Badge } from '../../parts/display/facts.tsx';
import { Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';

export const m = messages(
  {
    dead: 'Given up',
    delivered: 'Delivered',
    loading: 'Loading…',
    none: 'No messages yet',
    pending: 'Pending',
  },
  {
    dead: 'Aufgegeben',
    delivered: 'Zugestellt',
    loading: 'Wird geladen …',
    none: 'Noch keine Nachrichten',
    pending: 'Steht aus',
  },
);

export const deliveryStates = ['pending', 'delivered', 'dead'] as const;
export const deliveryLooks = { pending: 'warn', delivered: 'good', dead: 'bad' } as const;

/** Milliseconds. */
const every = 5000;

interface Delivery {
  readonly created_at: string;
  readonly state: (typeof deliveryStates)[number];
  readonly last_status: number | null;
  readonly last_error: string | null;
}

/** The newest message to a webhook and its result, with a link to all of its messages. */
export function LastMessage({ webhook }: { readonly webhook: number }) {
  const { data, waiting, reload } = useRead<readonly Delivery[]>(
    `/api/webhook-deliveries/?webhook=${webhook}&limit=1`,
  );
  const isPending = data?.[0]?.state === 'pending';
  useEffect(() => {
    if (!isPending || waiting) return;
    const timer = setTimeout(reload, every);
    return () => clearTimeout(timer);
  }, [isPending, waiting]);
  if (data === undefined) return <span class="quiet">{m('loading')}</span>;
  const [last] = data;
  if (!last) return <span class="quiet">{m('none')}</span>;
  const { state, created_at, last_error, last_status } = last;
  const answer = last_error ?? (last_status === null ? undefined : String(last_status));
  return (
    <div>
      <a href={`/webhooks/messages?webhook=${webhook}`}>
        <Badge look={deliveryLooks[state]}>{m(state)}</Badge>
      </a>{' '}
      <When at={created_at} />
      {answer !== undefined && (
        <p class="quiet">
          <Text of={answer} />
        </p>
      )}
    </div>
  );
}
