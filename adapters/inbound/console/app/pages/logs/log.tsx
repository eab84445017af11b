import { useState } from 'preact/hooks';
import { useAsked } from '../../data.ts';
import { messages, number } from '../../language.ts';
import { Action } from '../../parts/dialogs/action.tsx';
import { Answer, Empty } from '../../parts/display/answer.tsx';
import { Badge, Heading } from '../../parts/display/facts.tsx';
import { Text } from '../../parts/display/text.tsx';
import { When } from '../../parts/display/when.tsx';
import type { Page } from '../../router.ts';
import { words } from '../../words.ts';
import { m as l, readLog, saveLog } from './logs.tsx';

const m = messages(
  {
    again: 'Refresh',
    containing: 'Lines containing',
    lines: { one: 'The last line', other: 'The last {n} lines' },
    nothing: 'No matching lines',
    nothingNext: 'Only the end of the file is searched: download it to search all of it.',
  },
  {
    again: 'Aktualisieren',
    containing: 'Zeilen mit',
    lines: { one: 'Die letzte Zeile', other: 'Die letzten {n} Zeilen' },
    nothing: 'Keine passenden Zeilen',
    nothingNext:
      'Nur das Ende der Datei wird durchsucht: Laden Sie sie herunter, um sie ganz zu durchsuchen.',
  },
);

/** How much of the end is looked at, and how much of that is drawn. */
const searched = 10_000;
const drawn = 200;

export const log: Page = {
  path: '/logs/:name',
  title: () => l('title'),
  needs: 'logs.read',
  view: ({ params: { name = '' } }) => {
    const asked = useAsked(name, (abort) => readLog(name, abort));
    const [word, setWord] = useState('');
    return (
      <>
        <Heading
          title={<Text of={name} />}
          up={{ href: '/logs', title: l('title') }}
          actions={
            <>
              <button type="button" onClick={asked.reload}>
                {m('again')}
              </button>
              <Action run={() => saveLog(name)}>{words('download')}</Action>
            </>
          }
        />
        <Answer of={asked}>
          {({ content }) => {
            const end = content.trimEnd().split('\n').slice(-searched);
            const found = end.filter((line) => line.toLowerCase().includes(word.toLowerCase())).slice(-drawn);
            return (
              <>
                <div class="narrowing">
                  <div class="field">
                    <label for="word">{m('containing')}</label>
                    <input
                      id="word"
                      type="search"
                      value={word}
                      onInput={(event) => setWord(event.currentTarget.value)}
                    />
                  </div>
                </div>
                <p class="count" role="status">
                  {m('lines', { n: found.length })}
                </p>
                {found.length === 0 ? (
                  <Empty title={m('nothing')} next={m('nothingNext')} />
                ) : (
                  <ul class="plain-list card">
                    {found.toReversed().map((line, n) => (
                      <li key={`${number(n)} ${line}`}>
                        <Line of={line} />
                      </li>
                    ))}
                  </ul>
                )}
              </>
            );
          }}
        </Answer>
      </>
    );
  },
};

const looks = { error: 'bad', warn: 'warn', info: 'calm', debug: 'calm' } as const;

/** Lines are JSON; one that is not is shown as it is. */
function Line({ of }: { readonly of: string }) {
  const members = parsed(of);
  if (!members) return <Text of={of} />;
  const { time, level, event, pid: _, ...rest } = members;
  return (
    <>
      <span>
        {typeof level === 'string' && (
          <Badge look={Object.hasOwn(looks, level) ? looks[level as keyof typeof looks] : 'calm'}>
            <Text of={level} />
          </Badge>
        )}{' '}
        <strong>
          <Text of={String(event ?? '')} />
        </strong>{' '}
        <Text
          of={Object.entries(rest)
            .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
            .join(' · ')}
        />
      </span>
      <span class="quiet">{typeof time === 'string' && <When at={time} />}</span>
    </>
  );
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
