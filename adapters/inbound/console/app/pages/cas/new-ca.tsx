import { write } from '../../api.ts';
import { forget, useShared } from '../../data.ts';
import { messages } from '../../language.ts';
import { tell } from '../../parts/dialogs/toast.tsx';
import { Answer } from '../../parts/display/answer.tsx';
import { Heading } from '../../parts/display/facts.tsx';
import { Form } from '../../parts/forms/form.tsx';
import type { CaPosition, IssuingCa } from '../../records.ts';
import { go, type Page } from '../../router.ts';
import { m as c, isPast } from './cas.tsx';
import { type Choices, type ConfiguredIssuer, type KeyStore, newCaFields } from './new-ca-fields.ts';

const m = messages(
  { action: 'Create', done: 'The certificate authority has been created.' },
  { action: 'Anlegen', done: 'Die Zertifizierungsstelle wurde angelegt.' },
);

export const newCa: Page = {
  path: '/cas/new',
  title: () => c('add'),
  needs: 'cas.write',
  view: () => {
    const cas = useShared<readonly CaPosition[]>('/api/ca-hierarchy/');
    const keyStores = useShared<readonly KeyStore[]>('/api/key-stores/');
    const issuers = useShared<readonly ConfiguredIssuer[]>('/api/issuers/');
    return (
      <>
        <Heading title={c('add')} up={{ href: '/cas', title: c('title') }} />
        <Answer of={cas}>
          {(cas) => (
            <Answer of={keyStores}>
              {(keyStores) => (
                <Answer of={issuers}>
                  {(issuers) => (
                    <NewCa parents={cas.filter(canSign)} keyStores={keyStores} issuers={issuers} />
                  )}
                </Answer>
              )}
            </Answer>
          )}
        </Answer>
      </>
    );
  },
};

const canSign = ({ is_active, not_valid_after }: CaPosition): boolean =>
  is_active && !isPast(not_valid_after);

const NewCa = (choices: Choices) => (
  <Form
    action={m('action')}
    cancel={() => go('/cas')}
    fields={newCaFields(choices)}
    send={async (values) => {
      const { id } = await write<IssuingCa>('POST', '/api/issuing-cas/', values);
      forget('/api/issuing-cas/');
      forget('/api/ca-hierarchy/');
      tell(m('done'));
      go(`/cas/${id}`);
    }}
  />
);
