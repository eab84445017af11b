import { signal } from '@preact/signals';
import { words } from '../../words.ts';
import { Text } from '../display/text.tsx';

interface Toast {
  readonly id: number;
  readonly text: string;
}

const shown = signal<readonly Toast[]>([]);
let last = 0;
const readFor = 10_000;

const dismiss = (id: number): void => {
  shown.value = shown.value.filter((one) => one.id !== id);
};

/** Says in passing that something has been done; also to those who hear the page. */
export function tell(text: string): void {
  const id = ++last;
  shown.value = [...shown.value.slice(-2), { id, text }];
  setTimeout(() => dismiss(id), readFor);
}

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {shown.value.map(({ id, text }) => (
      <p class="toast" key={id}>
        <Text of={text} />
        <button type="button" class="plain" onClick={() => dismiss(id)} aria-label={words('close')}>
          ×
        </button>
      </p>
    ))}
  </div>
);
