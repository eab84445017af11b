import { messages } from '../../language.ts';
import { m as w } from './profile-words.tsx';
import { memberAt, membersOf, type RulesPart } from './rules.ts';
import { Check, Count } from './rules-inputs.tsx';
import { Purposes } from './rules-purposes.tsx';

const m = messages(
  {
    crl: 'URL of the CRL',
    issuer: 'URLs of the CA certificate and the OCSP responder',
    isCa: 'The certificate is for a CA',
    pathLength: 'Path length (number of CAs below)',
  },
  {
    crl: 'Adresse der Sperrliste',
    issuer: 'Adressen von CA-Zertifikat und OCSP-Responder',
    isCa: 'Das Zertifikat ist für eine CA',
    pathLength: 'Pfadlänge (Anzahl der CAs darunter)',
  },
);

const usages = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
] as const;
const purposes = [
  'serverAuth',
  'clientAuth',
  'codeSigning',
  'emailProtection',
  'timeStamping',
  'OCSPSigning',
] as const;

/** Rules about the extensions that most certificates have. */
export const Extensions = ({ rules, set }: RulesPart) => (
  <>
    <Purposes
      title={w('keyUsage')}
      of={usages}
      rule={memberAt(rules, ['extensions', 'keyUsage'])}
      set={(rule) => set(['extensions', 'keyUsage'], rule)}
    />
    <Purposes
      title={w('extended')}
      of={purposes}
      open
      rule={memberAt(rules, ['extensions', 'extendedKeyUsage'])}
      set={(rule) => set(['extensions', 'extendedKeyUsage'], rule)}
    />
    <Basic rules={rules} set={set} />
    <Published rules={rules} set={set} />
  </>
);

function Basic({ rules, set }: RulesPart) {
  const path = ['extensions', 'basicConstraints'];
  const isCa = memberAt(rules, [...path, 'ca']) === true;
  return (
    <section>
      <h3>{w('basic')}</h3>
      <Check title={m('isCa')} value={isCa} set={(ca) => set(path, { ca })} />
      {isCa && (
        <Count
          title={m('pathLength')}
          value={memberAt(rules, [...path, 'pathLength'])}
          set={(value) => set([...path, 'pathLength'], value)}
        />
      )}
    </section>
  );
}

/** Where this service publishes what checks a certificate. */
function Published({ rules, set }: RulesPart) {
  const offered = [
    ['crlDistributionPoints', m('crl')],
    ['authorityInfoAccess', m('issuer')],
  ] as const;
  return (
    <section>
      <h3>{w('published')}</h3>
      {offered.map(([name, title]) => {
        const { service: isThere, ...rest } = membersOf(memberAt(rules, ['extensions', name]));
        return (
          <Check
            key={name}
            title={title}
            value={isThere === true}
            set={(service) => {
              const isEmpty = !service && Object.keys(rest).length === 0;
              set(['extensions', name], isEmpty ? undefined : { service, ...rest });
            }}
          />
        );
      })}
    </section>
  );
}
