import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ApiError, write } from '../api.ts';
import { forget, useRead, useShared } from '../data.ts';
import { messages } from '../language.ts';
import { Answer, Problem } from '../parts/answer.tsx';
import { Card, Heading } from '../parts/facts.tsx';
import { ProfilePreview } from '../parts/profile-preview.tsx';
import { membersOf, pathAt, placeOf, type Rules, schemaAt } from '../parts/rules.ts';
import { RulesForm } from '../parts/rules-form.tsx';
import { Code, plain, Text } from '../parts/text.tsx';
import { tell } from '../parts/toast.tsx';
import type { Profile } from '../records.ts';
import { go, type Page, query } from '../router.ts';
import { words } from '../words.ts';
import { m as p } from './profiles.tsx';

const m = messages(
  {
    copyOf: 'copy_of_{name}',
    here: 'Here',
    json: 'The same as JSON',
    jsonHint: 'Form and JSON say the same: what changes in one changes in the other.',
    members: 'may have',
    name: 'Name',
    nameHint: 'By it, devices ask for the profile.',
    notJson: 'This is no JSON object yet; the form waits for it.',
    problems: 'The rules cannot be saved so',
    rules: 'Rules',
    title: 'Edit {name}',
  },
  {
    copyOf: 'kopie_von_{name}',
    here: 'Hier',
    json: 'Dasselbe als JSON',
    jsonHint: 'Formular und JSON sagen dasselbe: Was sich hier ändert, ändert sich dort.',
    members: 'kann haben',
    name: 'Name',
    nameHint: 'Unter ihm bitten Geräte um das Profil.',
    notJson: 'Das ist noch kein JSON-Objekt; das Formular wartet darauf.',
    problems: 'So lassen sich die Regeln nicht speichern',
    rules: 'Regeln',
    title: '{name} bearbeiten',
  },
);

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
    const asked = useRead<Profile>(
      from === null ? undefined : `/api/cert-profiles/${encodeURIComponent(from)}/`,
    );
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
    const asked = useRead<Profile>(`/api/cert-profiles/${encodeURIComponent(id)}/`);
    return (
      <Answer of={asked}>
        {({ id: of, unique_name: name, profile: rules }) => <Editor id={of} name={name} rules={rules} />}
      </Answer>
    );
  },
};

const written = (rules: Rules): string => JSON.stringify(rules, null, 2);

function rulesIn(text: string): Rules | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const rules = membersOf(value);
    return rules === value ? rules : undefined;
  } catch {
    return undefined;
  }
}

/** `/subject/CN: must be …`, as the API complains. */
function problemsOf(error: unknown): readonly { readonly pointer: string; readonly told: string }[] {
  const told = error instanceof ApiError ? (error.fields.profile ?? []) : [];
  return told.map((one) => {
    const end = one.startsWith('/') ? one.indexOf(': ') : -1;
    return end < 0 ? { pointer: '', told: one } : { pointer: one.slice(0, end), told: one.slice(end + 2) };
  });
}

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
  const [text, setText] = useState(() => written(stored));
  const [rules, setRules] = useState(stored);
  const [caret, setCaret] = useState(0);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const { data: schema } = useShared<unknown>('/api/cert-profiles/schema/');
  const source = useRef<HTMLTextAreaElement>(null);
  const field = useId();
  const isRules = rulesIn(text) !== undefined;
  const problems = problemsOf(error);
  const told = error instanceof ApiError ? error.fields.unique_name : undefined;
  useEffect(() => {
    if (called !== '') document.title = `${plain(called)} · Postern`;
  }, [called]);

  const type = (next: string): void => {
    setText(next);
    const read = rulesIn(next);
    if (read) setRules(read);
  };
  const jump = (pointer: string): void => {
    const { current } = source;
    const place = placeOf(text, pointer);
    if (!current || !place) return;
    current.focus();
    current.setSelectionRange(place.start, place.end);
    const line = text.slice(0, place.start).split('\n').length;
    const lines = text.split('\n').length;
    current.scrollTop = (current.scrollHeight * Math.max(0, line - 4)) / lines;
    setCaret(place.end);
  };
  const save = async (): Promise<void> => {
    if (busy || !isRules) return;
    setBusy(true);
    setError(undefined);
    try {
      const body = { unique_name: name, profile: rules };
      const { id: of } = await (id === undefined
        ? write<Profile>('POST', '/api/cert-profiles/', body)
        : write<Profile>('PATCH', `/api/cert-profiles/${id}/`, body));
      forget('/api/cert-profiles/');
      tell(words('saved'));
      go(`/profiles/${of}`);
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  const here = pathAt(text, caret);
  const hint = schemaAt(schema, here);
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
      {problems.length > 0 ? (
        <div class="notice bad" role="alert">
          <p>
            <strong>{m('problems')}</strong>
          </p>
          <ul class="plain-list">
            {problems.map(({ pointer, told: what }) => (
              <li key={`${pointer} ${what}`}>
                <Text of={what} />
                <button type="button" class="link" onClick={() => jump(pointer)}>
                  <Code of={pointer === '' ? '/' : pointer} />
                </button>
              </li>
            ))}
          </ul>
        </div>
      ) : (
        error !== undefined && told === undefined && <Problem error={error} />
      )}
      <div class="field name">
        <label for={`${field}-n`}>{m('name')}</label>
        <input
          id={`${field}-n`}
          name="unique_name"
          value={name}
          maxLength={255}
          autocomplete="off"
          aria-required
          aria-invalid={told !== undefined}
          aria-describedby={`${field}-h`}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
        <p class={told ? 'complaint' : 'hint'} id={`${field}-h`}>
          {told ? <Text of={told.join(' ')} /> : m('nameHint')}
        </p>
      </div>
      <div class="cards">
        <Card title={m('rules')}>
          <fieldset disabled={!isRules} aria-label={m('rules')}>
            <RulesForm
              rules={rules}
              change={(next) => {
                setRules(next);
                setText(written(next));
              }}
            />
          </fieldset>
        </Card>
        <div class="stays">
          <Card title={m('json')}>
            <p class={isRules ? 'hint' : 'complaint'} id={`${field}-j`} role="status">
              {isRules ? m('jsonHint') : m('notJson')}
            </p>
            <textarea
              ref={source}
              class="code"
              name="profile"
              rows={12}
              spellcheck={false}
              aria-label={m('json')}
              aria-describedby={`${field}-j`}
              aria-invalid={!isRules}
              value={text}
              onInput={({ currentTarget }) => {
                type(currentTarget.value);
                setCaret(currentTarget.selectionStart);
              }}
              onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart)}
            />
            {hint && (
              <p class="meaning">
                {m('here')}: <Code of={here.length === 0 ? '/' : here.join(' › ')} />
                {hint.description !== undefined && <> – {hint.description}</>}
                {hint.members.length > 0 && (
                  <>
                    {' '}
                    ({m('members')} {hint.members.join(', ')})
                  </>
                )}
              </p>
            )}
          </Card>
          <ProfilePreview id={id} rules={rules} jump={jump} />
        </div>
      </div>
    </>
  );
}
