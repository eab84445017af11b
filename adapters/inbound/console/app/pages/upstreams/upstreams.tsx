import { messages } from '../../language.ts';
import { Heading } from '../../parts/display/facts.tsx';
import { Tabs } from '../../parts/display/tabs.tsx';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { UpstreamCas } from './upstream-cas.tsx';
import { requestsTitle, UpstreamRequests } from './upstream-requests.tsx';

const m = messages(
  {
    cas: 'State',
    lead: 'CAs outside Postern that issue certificates on request. Postern retries pending requests by itself.',
    title: 'Upstream CAs',
  },
  {
    cas: 'Zustand',
    lead: 'CAs außerhalb von Postern, die auf Antrag Zertifikate ausstellen. Offene Anträge wiederholt Postern von selbst.',
    title: 'Upstream-CAs',
  },
);

export const upstreams: Page = {
  path: '/upstreams',
  title: () => m('title'),
  needs: 'certificates.read',
  navigation: { group: 'system', order: 70 },
  view: () => (
    <>
      <Heading title={m('title')} />
      <p class="lead">{m('lead')}</p>
      <Tabs
        label={m('title')}
        tabs={[
          ...(may('cas.read') ? [{ name: 'cas', title: m('cas'), view: () => <UpstreamCas /> }] : []),
          { name: 'requests', title: requestsTitle(), view: () => <UpstreamRequests /> },
        ]}
      />
    </>
  ),
};
