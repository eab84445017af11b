import { messages } from '../language.ts';
import { Heading } from '../parts/facts.tsx';
import type { Page } from '../router.ts';

const m = messages({ title: 'Overview' }, { title: 'Übersicht' });

export const overview: Page = {
  path: '/',
  title: () => m('title'),
  navigation: { group: 'attention', order: 0 },
  view: () => <Heading title={m('title')} />,
};
