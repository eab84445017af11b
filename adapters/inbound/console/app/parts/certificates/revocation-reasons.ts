import { meanings } from '../../language.ts';

/** RFC 5280 §5.3.1; `removeFromCRL` is the release from a hold. */
const reason = meanings(
  {
    unspecified: 'not said',
    keyCompromise: 'the key is, or may be, known to others',
    cACompromise: 'the key of the CA is known to others',
    affiliationChanged: 'the holder has changed',
    superseded: 'another certificate takes its place',
    cessationOfOperation: 'it is needed no more',
    certificateHold: 'suspended; can be taken back',
    privilegeWithdrawn: 'the right to it was withdrawn',
    aACompromise: 'the attribute authority is compromised',
  },
  {
    unspecified: 'nicht angegeben',
    keyCompromise: 'der Schlüssel ist anderen bekannt, oder vielleicht bekannt',
    cACompromise: 'der Schlüssel der Zertifizierungsstelle ist anderen bekannt',
    affiliationChanged: 'der Inhaber hat gewechselt',
    superseded: 'ein anderes Zertifikat tritt an seine Stelle',
    cessationOfOperation: 'es wird nicht mehr gebraucht',
    certificateHold: 'ausgesetzt; lässt sich zurücknehmen',
    privilegeWithdrawn: 'das Recht darauf wurde entzogen',
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
