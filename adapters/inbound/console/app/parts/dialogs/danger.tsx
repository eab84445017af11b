import { messages } from '../../language.ts';
import { plain, Text } from '../display/text.tsx';
import type { Field, Values } from '../forms/input.tsx';

const m = messages(
  { final: 'This cannot be undone.', typeName: 'To confirm, type {name}' },
  { final: 'Das lässt sich nicht rückgängig machen.', typeName: 'Geben Sie zur Bestätigung „{name}“ ein' },
);

/** What a dialog does harm to. */
export interface Danger {
  /** Its name, or how many there are. */
  readonly object: string;
  /** Whether it cannot be undone with what has been entered so far: the name has to be typed then. */
  readonly isFinal: (values: Values) => boolean;
}

/** The input for the name. It is not sent. */
export const confirmation = ({ object, isFinal }: Danger): Field => ({
  name: 'confirmation',
  title: m('typeName', { name: plain(object) }),
  hint: m('final'),
  required: true,
  expected: plain(object).trim(),
  when: isFinal,
});

/** The name, where nobody overlooks it. */
export const DangerousObject = ({ of }: { readonly of: Danger | undefined }) =>
  of && (
    <p class="object">
      <Text of={of.object} />
    </p>
  );
