import { messages } from '../../language.ts';
import { Download } from '../display/download.tsx';

const m = messages(
  { exportAs: 'Export {format}', jsonLines: 'JSON Lines' },
  { exportAs: '{format} exportieren', jsonLines: 'JSON Lines' },
);

/** A file may have millions of records. Milliseconds. */
const exportPatience = 3_600_000;

/** The list as it is filtered, whole. */
export function Exports({
  path,
  parameters,
}: {
  readonly path: string;
  readonly parameters: URLSearchParams;
}) {
  const name = path.split('/').at(-2) ?? 'list';
  const rest = new URLSearchParams(parameters);
  for (const one of ['limit', 'cursor']) rest.delete(one);
  return (
    <span class="buttons exports">
      {(
        [
          ['csv', 'CSV'],
          ['jsonl', m('jsonLines')],
        ] as const
      ).map(([format, title]) => (
        <Download
          key={format}
          path={`${path}?${new URLSearchParams([...rest, ['format', format]])}`}
          name={`${name}.${format}`}
          timeLimit={exportPatience}
          look="plain"
        >
          {m('exportAs', { format: title })}
        </Download>
      ))}
    </span>
  );
}
