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

/** RFC 5280 §5.3.1; `removeFromCRL` is the release from a hold. */
const reason = meanings(
  {
    unspecified: 'no reason given',
    keyCompromise: 'the private key is or may be compromised',
    cACompromise: 'the private key of the CA is compromised',
    affiliationChanged: 'the name or role of the subject has changed',
    superseded: 'another certificate replaces it',
    cessationOfOperation: 'no longer needed',
    certificateHold: 'suspended; can be undone',
    privilegeWithdrawn: 'the subject is no longer entitled to it',
    aACompromise: 'the attribute authority is compromised',
  },
  {
    unspecified: 'kein Grund angegeben',
    keyCompromise: 'der private Schlüssel ist oder könnte kompromittiert sein',
    cACompromise: 'der private Schlüssel der CA ist kompromittiert',
    affiliationChanged: 'Name oder Aufgabe des Inhabers hat sich geändert',
    superseded: 'ein anderes Zertifikat ersetzt es',
    cessationOfOperation: 'wird nicht mehr gebraucht',
    certificateHold: 'ausgesetzt; lässt sich zurücknehmen',
    privilegeWithdrawn: 'der Inhaber ist nicht mehr berechtigt',
    aACompromise: 'die Attributstelle ist kompromittiert',
  },
);

/** Those that somebody chooses. */
export const reasons = [
  'unspecified',
  'keyCompromise',
  'affiliationChanged',
  'superseded',
  'cessationOfOperation',
  'certificateHold',
  'privilegeWithdrawn',
] as const;

export const reasonTitle = (name: string): string => {
  const meaning = reason(name);
  return meaning === undefined ? name : `${name}: ${meaning}`;
};
