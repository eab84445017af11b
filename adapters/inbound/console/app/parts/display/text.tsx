import { useState } from 'preact/hooks';
import { words } from '../../words.ts';

/** Controls, and what orders text against its look: shown as what they are, they cannot pass for something else. */
const unseen =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/u;
const unseenOrNot = new RegExp(`(${unseen.source})`, 'u');
const longest = 160;

const codePoint = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

/** For attributes and titles: text alone, made visible and cut. */
export const plain = (text: string): string => {
  const visible = text.slice(0, longest).replace(new RegExp(unseen, 'gu'), (one) => `[${codePoint(one)}]`);
  return text.length > longest ? `${visible}…` : visible;
};

/** Text from elsewhere: isolated from the direction of what stands around it, nothing in it invisible, cut beyond `upTo` characters. */
export function Text({ of, upTo = longest }: { readonly of: string; readonly upTo?: number }) {
  const [whole, setWhole] = useState(false);
  const isLong = of.length > upTo;
  const shown = isLong && !whole ? `${of.slice(0, upTo)}…` : of;
  return (
    <bdi class="text">
      {unseen.test(shown)
        ? shown.split(unseenOrNot).map((part) =>
            unseen.test(part) ? (
              <span class="unseen" key={part}>
                {codePoint(part)}
              </span>
            ) : (
              part
            ),
          )
        : shown}
      {isLong && (
        <button type="button" class="link" onClick={() => setWhole(!whole)} aria-expanded={whole}>
          {whole ? words('showLess') : words('showAll', { n: of.length })}
        </button>
      )}
    </bdi>
  );
}

/** The same in the type of machines: serial numbers, fingerprints, commands. */
export const Code = ({ of }: { readonly of: string }) => (
  <code>
    <Text of={of} />
  </code>
);

/** In place of a value that does not exist. */
export const Absent = () => <span class="quiet">{words('absent')}</span>;
