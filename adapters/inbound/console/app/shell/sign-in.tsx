import { useLayoutEffect } from 'preact/hooks';
import { ApiError } from '../api.ts';
import { messages } from '../language.ts';
import { Form } from '../parts/forms/form.tsx';
import { path } from '../router.ts';
import { signIn } from '../session.ts';

const m = messages(
  {
    lead: 'Sign in to administer certificates, devices and certificate authorities.',
    again: 'Sign in to continue.',
    password: 'Password',
    service: 'Service accounts sign in to the API with their secret, not here.',
    title: 'Sign in',
    username: 'User name',
    wrong: 'User name or password is wrong.',
  },
  {
    lead: 'Melden Sie sich an, um Zertifikate, Geräte und Zertifizierungsstellen zu verwalten.',
    again: 'Melden Sie sich an, um fortzufahren.',
    password: 'Kennwort',
    service: 'Dienstkonten melden sich mit ihrem Geheimnis an der API an, nicht hier.',
    title: 'Anmelden',
    username: 'Benutzername',
    wrong: 'Benutzername oder Kennwort ist falsch.',
  },
);

/** In place of every page while nobody is signed in: the address stays, so that one comes out where one wanted to. */
export function SignIn() {
  const title = m('title');
  // Before anything is drawn: what is typed at once stays where it is typed.
  useLayoutEffect(() => {
    document.title = `${title} · Postern`;
    document.querySelector<HTMLInputElement>('.sign-in input')?.focus();
  }, [title]);
  return (
    <div class="sign-in">
      <h1>{title}</h1>
      <p>{path.value === '/' || path.value === '/sign-in' ? m('lead') : m('again')}</p>
      <Form
        action={title}
        fields={[
          {
            name: 'username',
            title: m('username'),
            required: true,
            autocomplete: 'username',
            maxLength: 150,
          },
          {
            name: 'password',
            title: m('password'),
            type: 'password',
            required: true,
            autocomplete: 'current-password',
          },
        ]}
        send={async ({ username, password }) => {
          try {
            await signIn(String(username), String(password));
          } catch (error) {
            if (!(error instanceof ApiError) || error.status !== 401) throw error;
            const told = /^sa_\d+$/.test(String(username)) ? m('service') : m('wrong');
            throw new ApiError(400, { username: [told] }, undefined);
          }
        }}
      />
    </div>
  );
}
