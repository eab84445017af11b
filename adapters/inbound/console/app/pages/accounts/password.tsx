import { ApiError } from '../../api.ts';
import { messages } from '../../language.ts';
import { tell } from '../../parts/dialogs/toast.tsx';
import { Heading } from '../../parts/display/facts.tsx';
import { Form } from '../../parts/forms/form.tsx';
import { go, type Page } from '../../router.ts';
import { changePassword, session } from '../../session.ts';

const m = messages(
  {
    again: 'Repeat the new password',
    current: 'Current password',
    different: 'The two new passwords differ.',
    done: 'Your password has been changed.',
    lead: 'Your other sessions end at once. You stay signed in here.',
    next: 'New password',
    nextHint: 'At least 8 characters. Common passwords are rejected.',
    required: 'An administrator has set your password and knows it. Choose another one to continue.',
    title: 'Change password',
  },
  {
    again: 'Neues Kennwort wiederholen',
    current: 'Bisheriges Kennwort',
    different: 'Die beiden neuen Kennwörter sind verschieden.',
    done: 'Ihr Kennwort wurde geändert.',
    lead: 'Ihre anderen Sitzungen enden sofort. Hier bleiben Sie angemeldet.',
    next: 'Neues Kennwort',
    nextHint: 'Mindestens 8 Zeichen. Häufig benutzte Kennwörter werden abgelehnt.',
    required:
      'Ihr Kennwort wurde von der Administration gesetzt und ist ihr bekannt. Wählen Sie ein anderes, um fortzufahren.',
    title: 'Kennwort ändern',
  },
);

export const changePasswordTitle = (): string => m('title');

/** `isRequired`: in place of every page, until an administrator no longer knows the password. */
export function ChangePassword({ isRequired }: { readonly isRequired: boolean }) {
  return (
    <>
      <Heading title={m('title')} />
      {isRequired ? <p class="notice">{m('required')}</p> : <p>{m('lead')}</p>}
      <Form
        action={m('title')}
        fields={[
          {
            name: 'current_password',
            title: m('current'),
            type: 'password',
            required: true,
            autocomplete: 'current-password',
          },
          {
            name: 'new_password',
            title: m('next'),
            type: 'password',
            required: true,
            hint: m('nextHint'),
            autocomplete: 'new-password',
          },
          {
            name: 'again',
            title: m('again'),
            type: 'password',
            required: true,
            autocomplete: 'new-password',
          },
        ]}
        send={async ({ current_password, new_password, again }) => {
          if (new_password !== again) throw new ApiError(400, { again: [m('different')] }, undefined);
          await changePassword(String(current_password), String(new_password));
          tell(m('done'));
          if (!isRequired) go('/');
        }}
      />
    </>
  );
}

export const password: Page = {
  path: '/password',
  title: changePasswordTitle,
  view: () => (session.value.is === 'signedIn' ? <ChangePassword isRequired={false} /> : null),
};
