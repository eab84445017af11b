import { meanings } from '../../language.ts';

const titles = meanings(
  {
    cmp: 'CMP',
    est: 'EST',
    internal: 'Postern itself',
    management: 'Console or API',
    rest: 'REST',
    scep: 'SCEP',
  },
  {
    cmp: 'CMP',
    est: 'EST',
    internal: 'Postern selbst',
    management: 'Konsole oder API',
    rest: 'REST',
    scep: 'SCEP',
  },
);

/** How a certificate was requested, as the API has it, in words. */
export const protocolTitle = (protocol: string): string => titles(protocol) ?? protocol;

/** Those that can be chosen in a filter. */
export const protocolChoices = (): readonly (readonly [protocol: string, title: string])[] =>
  ['est', 'rest', 'cmp', 'management', 'internal'].map((one) => [one, protocolTitle(one)] as const);
