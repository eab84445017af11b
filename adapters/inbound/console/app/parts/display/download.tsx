import type { ComponentChildren } from 'preact';
import { call } from '../../api.ts';
import { Action } from '../dialogs/action.tsx';

/** Saves what the API answers, under the name that it says. The token goes in a header, so a mere link would not do. */
async function download(path: string, name: string, timeLimit?: number): Promise<void> {
  const response = await call('GET', path, timeLimit === undefined ? {} : { timeLimit });
  const named = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1];
  save(await response.blob(), named ?? name);
}

/** Saves a file that is here already. */
export function save(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export const Download = ({
  path,
  name,
  timeLimit,
  look = '',
  label,
  children,
}: {
  readonly path: string;
  readonly name: string;
  /** Milliseconds, for what may be long. */
  readonly timeLimit?: number;
  readonly look?: '' | 'plain';
  readonly label?: string;
  readonly children: ComponentChildren;
}) => (
  <Action run={() => download(path, name, timeLimit)} look={look} {...(label !== undefined && { label })}>
    {children}
  </Action>
);
