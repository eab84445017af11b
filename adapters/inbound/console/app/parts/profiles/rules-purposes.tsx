import { messages } from '../../language.ts';
import { membersOf, type Rules, textsOf } from './rules.ts';
import { Choices, Lines, Select, Unfit } from './rules-inputs.tsx';

const m = messages(
  {
    always: 'Always these, whatever is requested',
    none: 'not stated',
    other: 'Other purposes (OIDs or names), one a line',
    requested: 'What is requested, of these',
  },
  {
    always: 'Immer diese, unabhängig vom Antrag',
    none: 'nicht angegeben',
    other: 'Weitere Zwecke (OIDs oder Namen), einer je Zeile',
    requested: 'Was beantragt wird, aus diesen',
  },
);

/** Key usages, or purposes: always these, or what is requested of these. */
export function Purposes({
  title,
  of,
  open = false,
  rule,
  set,
}: {
  readonly title: string;
  readonly of: readonly string[];
  /** Others than those of the list may be named. */
  readonly open?: boolean;
  readonly rule: unknown;
  readonly set: (rule: Rules | undefined) => void;
}) {
  const { fixed, allowed, unfit, ...rest } = membersOf(rule);
  const mode = rule === undefined ? 'none' : fixed === undefined ? 'allowed' : 'fixed';
  const chosen = textsOf(mode === 'fixed' ? fixed : allowed);
  const others = chosen.filter((one) => !of.includes(one));
  const put = (as: string, values: readonly string[], drop: unknown): void => {
    const { default: _d, required: _r, ...kept } = rest;
    const named = values.length === 0 ? [of[0]!] : values;
    if (as === 'none') set(undefined);
    else set({ ...(as === 'fixed' ? kept : rest), [as]: named, ...(drop !== undefined && { unfit: drop }) });
  };
  return (
    <section>
      <Select
        title={title}
        value={mode}
        options={[
          ['none', m('none')],
          ['fixed', m('always')],
          ['allowed', m('requested')],
        ]}
        set={(as) => put(as, chosen, unfit)}
      />
      {mode !== 'none' && (
        <>
          <Choices
            title={title}
            of={of}
            chosen={chosen.filter((one) => of.includes(one))}
            set={(next) => put(mode, [...next, ...others], unfit)}
          />
          {open && (
            <Lines
              title={m('other')}
              value={others}
              set={(next) => put(mode, [...chosen.filter((one) => of.includes(one)), ...next], unfit)}
            />
          )}
          <Unfit value={unfit} set={(value) => put(mode, chosen, value)} />
        </>
      )}
    </section>
  );
}
