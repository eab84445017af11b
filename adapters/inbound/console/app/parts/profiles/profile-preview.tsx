import { useEffect, useId, useState } from 'preact/hooks';
import { ApiError, write } from '../../api.ts';
import { useAsked, useList } from '../../data.ts';
import { messages } from '../../language.ts';
import type { Device } from '../../records.ts';
import { may } from '../../session.ts';
import { Problem, Waiting } from '../display/answer.tsx';
import { Badge, Card } from '../display/facts.tsx';
import { useChoices } from '../display/reference.tsx';
import { Text } from '../display/text.tsx';
import { type Preview, PreviewOutcome, previewTitle } from './preview-outcome.tsx';
import type { Rules } from './rules.ts';

const m = messages(
  {
    csr: 'Certificate request (CSR)',
    csrHint: 'PEM or base64. Nothing is issued and nothing is stored.',
    device: 'For the device',
    deviceHint: 'Name of the device. Leave empty for the device that the request names.',
    domain: 'In the domain',
    domainUsual: 'The domain of the device, or the default domain',
    noSuchDevice: 'No device has this name.',
    paste: 'Paste a request to see the resulting certificate and the reasons.',
    title: 'Preview',
  },
  {
    csr: 'Zertifikatsantrag (CSR)',
    csrHint: 'PEM oder base64. Es wird nichts ausgestellt und nichts gespeichert.',
    device: 'Für das Gerät',
    deviceHint: 'Name des Geräts. Leer: das Gerät, das der Antrag nennt.',
    domain: 'In der Domäne',
    domainUsual: 'Die Domäne des Geräts, oder die Standarddomäne',
    noSuchDevice: 'Kein Gerät hat diesen Namen.',
    paste: 'Fügen Sie einen Antrag ein, um das Zertifikat und die Gründe zu sehen.',
    title: 'Vorschau',
  },
);

const pause = 400;

/** The value once it has not changed for a moment. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), pause);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** What rules would make of a request that is pasted in, anew with each change of either. */
export function ProfilePreview({
  id,
  rules,
  jump,
}: {
  /** Of the stored profile; a new one has none. */
  readonly id: number | undefined;
  /** In place of those that are stored. */
  readonly rules: Rules;
  /** Shows the place in the rules that a JSON pointer names. */
  readonly jump?: (pointer: string) => void;
}) {
  const [csr, setCsr] = useState('');
  const [name, setName] = useState('');
  const [domain, setDomain] = useState('');
  const domains = useChoices('/api/domains/', 'domains.read');
  const field = useId();
  const word = useSettled(name.trim());
  const devices = useList<Device>(
    word === '' ? undefined : `/api/devices/?limit=8&search=${encodeURIComponent(word)}`,
  );
  const device = devices.data?.records.find(({ common_name }) => common_name === word)?.id;
  const body = useSettled(
    JSON.stringify({
      csr: csr.trim(),
      profile: rules,
      ...(device !== undefined && { device }),
      ...(domain !== '' && { domain: Number(domain) }),
    }),
  );
  const isAsked = csr.trim() !== '';
  const asked = useAsked<Preview>(isAsked ? `${id} ${body}` : undefined, (signal) =>
    write('POST', `/api/cert-profiles/${id === undefined ? '' : `${id}/`}preview/`, JSON.parse(body), {
      signal,
    }),
  );
  // What was there before stays until what comes next is there.
  const [last, setLast] = useState<Preview>();
  useEffect(() => {
    if (asked.data) setLast(asked.data);
  }, [asked.data]);
  const told = asked.error instanceof ApiError ? asked.error.fields.csr : undefined;
  const shown = asked.error === undefined && isAsked ? (asked.data ?? last) : undefined;
  return (
    <Card
      title={m('title')}
      wide
      actions={
        shown && (
          // A phone shows it at the lower edge, wherever one is on the page.
          <a class="verdict" href={`#${field}-r`}>
            <Badge look={shown.would_be_issued ? 'good' : 'bad'}>{previewTitle(shown)}</Badge>
          </a>
        )
      }
    >
      <div class="beside">
        <div class="field">
          <label for={`${field}-c`}>{m('csr')}</label>
          <textarea
            id={`${field}-c`}
            name="csr"
            class="code"
            rows={6}
            spellcheck={false}
            value={csr}
            aria-invalid={told !== undefined}
            aria-describedby={`${field}-h`}
            onInput={({ currentTarget }) => setCsr(currentTarget.value)}
          />
          <p class={told ? 'complaint' : 'hint'} id={`${field}-h`}>
            {told ? <Text of={told.join(' ')} /> : m('csrHint')}
          </p>
        </div>
        <div>
          {may('devices.read') && (
            <div class="field">
              <label for={`${field}-d`}>{m('device')}</label>
              <input
                id={`${field}-d`}
                list={`${field}-l`}
                value={name}
                maxLength={100}
                onInput={({ currentTarget }) => setName(currentTarget.value)}
              />
              <datalist id={`${field}-l`}>
                {(devices.data?.records ?? []).map(({ id: one, common_name }) => (
                  <option key={one} value={common_name} />
                ))}
              </datalist>
              <p class="hint">
                {word !== '' && devices.data && device === undefined ? m('noSuchDevice') : m('deviceHint')}
              </p>
            </div>
          )}
          {may('domains.read') && (
            <div class="field">
              <label for={`${field}-o`}>{m('domain')}</label>
              <select
                id={`${field}-o`}
                value={domain}
                onChange={({ currentTarget }) => setDomain(currentTarget.value)}
              >
                <option value="">{m('domainUsual')}</option>
                {domains.map(([one, title]) => (
                  <option key={one} value={String(one)}>
                    {title}
                  </option>
                ))}
              </select>
            </div>
          )}
        </div>
      </div>
      {!isAsked && <p class="quiet">{m('paste')}</p>}
      {asked.error !== undefined && told === undefined && (
        <Problem error={asked.error} retry={asked.reload} />
      )}
      {isAsked && shown === undefined && asked.error === undefined && <Waiting retry={asked.reload} />}
      {shown && (
        <div id={`${field}-r`}>
          <PreviewOutcome of={shown} jump={jump} />
        </div>
      )}
    </Card>
  );
}
