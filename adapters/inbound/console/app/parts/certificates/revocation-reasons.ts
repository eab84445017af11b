import { meanings } from '../../language.ts';

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
