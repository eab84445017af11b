import { useEffect, useId, useState } from 'preact/hooks';
import { ApiError, store } from '../../api.ts';
import { forget, useRead } from '../../data.ts';
import { messages } from '../../language.ts';
import { tell } from '../../parts/dialogs/toast.tsx';
import { Answer, Problem } from '../../parts/display/answer.tsx';
import { Card, Heading } from '../../parts/display/facts.tsx';
import { Code, plain, Text } from '../../parts/display/text.tsx';
import { ProfilePreview } from '../../parts/profiles/profile-preview.tsx';
import type { Rules } from '../../parts/profiles/rules.ts';
import { RulesForm } from '../../parts/profiles/rules-form.tsx';
import { RulesSource, useRulesSource } from '../../parts/profiles/rules-source.tsx';
import type { Profile } from '../../records.ts';
import { go, type Page, query } from '../../router.ts';
import { words } from '../../words.ts';
import { m as p } from './profiles.tsx';

const m = messages(
  {
    copyOf: 'copy_of_{name}',
    name: 'Name',
    nameHint: 'Devices request the profile by this name.',
    problems: 'The rules are not valid',
    rules: 'Rules',
    title: 'Edit {name}',
  },
  {
    copyOf: 'kopie_von_{name}',
    name: 'Name',
    nameHint: 'Unter diesem Namen beantragen Geräte das Profil.',
    problems: 'Die Regeln sind nicht gültig',
    rules: 'Regeln',
    title: '„{name}“ bearbeiten',
  },
);

const path = '/api/cert-profiles/';

const plainRules: Rules = {
  validity: { duration: 'P1Y' },
  subject: { CN: { fixed: '{device.common_name}' } },
  extensions: {
    basicConstraints: { ca: false },
    keyUsage: { fixed: ['digitalSignature'], unfit: 'drop' },
    extendedKeyUsage: { fixed: ['clientAuth'], unfit: 'drop' },
    crlDistributionPoints: { service: true },
    authorityInfoAccess: { service: true },
  },
  others: { extensions: 'drop' },
};

export const newProfile: Page = {
  path: '/profiles/new',
  title: () => p('add'),
  needs: 'profiles.write',
  view: () => {
    const from = query.value.get('from');
    const asked = useRead<Profile>(from === null ? undefined : `${path}${encodeURIComponent(from)}/`);
    if (from === null) return <Editor name="" rules={plainRules} />;
    return (
      <Answer of={asked}>
        {({ unique_name: name, profile: rules }) => <Editor name={m('copyOf', { name })} rules={rules} />}
      </Answer>
    );
  },
};

export const editProfile: Page = {
  path: '/profiles/:id/edit',
  title: () => words('edit'),
  needs: 'profiles.write',
  view: ({ params: { id = '' } }) => {
    const asked = useRead<Profile>(`${path}${encodeURIComponent(id)}/`);
    return (
      <Answer of={asked}>
        {({ id: of, unique_name: name, profile: rules }) => <Editor id={of} name={name} rules={rules} />}
      </Answer>
    );
  },
};

function Editor({
  id,
  name: called,
  rules: stored,
}: {
  readonly id?: number;
  readonly name: string;
  readonly rules: Rules;
}) {
  const [name, setName] = useState(called);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const source = useRulesSource(stored);
  const { rules, isRules, jump } = source;
  useEffect(() => {
    if (called !== '') document.title = `${plain(called)} · Postern`;
  }, [called]);

  const save = async (): Promise<void> => {
    if (busy || !isRules) return;
    setBusy(true);
    setError(undefined);
    try {
      const body = { unique_name: name, profile: rules };
      const saved = await store<Profile>(path, id === undefined ? undefined : { id }, body);
      forget(path);
      tell(words('saved'));
      go(`/profiles/${saved.id}`);
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <>
      <Heading
        title={id === undefined ? p('add') : <Text of={m('title', { name: called })} />}
        up={
          id === undefined
            ? { href: '/profiles', title: p('title') }
            : { href: `/profiles/${id}`, title: plain(called) }
        }
        actions={
          <>
            <button type="button" class="main" aria-disabled={busy || !isRules} onClick={() => void save()}>
              {words('save')}
            </button>
            <a class="button" href={id === undefined ? '/profiles' : `/profiles/${id}`}>
              {words('cancel')}
            </a>
          </>
        }
      />
      <Refusal of={error} jump={jump} />
      <Name
        value={name}
        told={error instanceof ApiError ? error.fields.unique_name : undefined}
        set={setName}
      />
      <div class="cards">
        <Card title={m('rules')}>
          <fieldset disabled={!isRules} aria-label={m('rules')}>
            <RulesForm rules={rules} change={source.change} />
          </fieldset>
        </Card>
        <div class="stays">
          <RulesSource of={source} />
          <ProfilePreview id={id} rules={rules} jump={jump} />
        </div>
      </div>
    </>
  );
}

/** `/subject/CN: must be …`, as the API complains. */
function problemsOf(error: unknown): readonly { readonly pointer: string; readonly told: string }[] {
  const told = error instanceof ApiError ? (error.fields.profile ?? []) : [];
  return told.map((one) => {
    const end = one.startsWith('/') ? one.indexOf(': ') : -1;
    return end < 0 ? { pointer: '', told: one } : { pointer: one.slice(0, end), told: one.slice(end + 2) };
  });
}

/** Why the rules were not saved, each reason with its place; complaints about the name stand beside it. */
function Refusal({ of: error, jump }: { readonly of: unknown; readonly jump: (pointer: string) => void }) {
  const problems = problemsOf(error);
  if (problems.length === 0) {
    const isOfName = error instanceof ApiError && error.fields.unique_name !== undefined;
    return error === undefined || isOfName ? null : <Problem error={error} />;
  }
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>{m('problems')}</strong>
      </p>
      <ul class="plain-list">
        {problems.map(({ pointer, told }) => (
          <li key={`${pointer} ${told}`}>
            <Text of={told} />
            <button type="button" class="link" onClick={() => jump(pointer)}>
              <Code of={pointer === '' ? '/' : pointer} />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Name({
  value,
  told,
  set,
}: {
  readonly value: string;
  readonly told: readonly string[] | undefined;
  readonly set: (value: string) => void;
}) {
  const id = useId();
  return (
    <div class="field name">
      <label for={id}>{m('name')}</label>
      <input
        id={id}
        name="unique_name"
        value={value}
        maxLength={255}
        autocomplete="off"
        aria-required
        aria-invalid={told !== undefined}
        aria-describedby={`${id}-h`}
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
      <p class={told ? 'complaint' : 'hint'} id={`${id}-h`}>
        {told ? <Text of={told.join(' ')} /> : m('nameHint')}
      </p>
    </div>
  );
}
