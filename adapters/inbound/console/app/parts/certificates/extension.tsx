import { messages } from '../../language.ts';
import type { ExplainedExtension, Said } from '../../records.ts';
import { Badge } from '../display/facts.tsx';
import { Code } from '../display/text.tsx';
import { termMeaning } from './extension-words.ts';
import { named, nameOf } from './oid-names.ts';

const m = messages({ critical: 'critical', raw: 'Value (DER)' }, { critical: 'kritisch', raw: 'Wert (DER)' });

/** The value of an extension, term by term; what cannot be read is shown as it is. */
export const Extension = ({
  of: { critical, values, value },
}: {
  readonly of: Pick<ExplainedExtension, 'critical' | 'values' | 'value'>;
}) => (
  <>
    {critical && <Badge look="calm">{m('critical')}</Badge>}
    {values.length === 0 &&
      (/^(?:[0-9a-f]{2})+$/i.test(value) ? (
        <p>
          <span class="quiet">{m('raw')}:</span> <Code of={value} />
        </p>
      ) : (
        <p>
          <Code of={named(value)} />
        </p>
      ))}
    <ul>
      {values.map((said) => (
        <li key={`${said.term} ${said.text}`}>
          <Term of={said} />
        </li>
      ))}
    </ul>
  </>
);

/** A key purpose or policy is shown by its name where it has one; its object identifier is in the tooltip. */
function Term({ of: { term, text } }: { readonly of: Said }) {
  const name = text === undefined || text === 'true' ? term : nameOf(text);
  if (name === undefined) {
    return (
      <>
        <Code of={text ?? ''} /> <span class="quiet">{termMeaning(term) ?? term}</span>
      </>
    );
  }
  return (
    <span title={text === name || text === 'true' ? undefined : text}>
      <Code of={name} /> <span class="quiet">{termMeaning(name) ?? termMeaning(term) ?? term}</span>
    </span>
  );
}
