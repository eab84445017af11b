import { useRead, useShared } from '../../data.ts';
import { messages, timeZone } from '../../language.ts';
import { Heading } from '../../parts/display/facts.tsx';
import type { Page } from '../../router.ts';
import { may } from '../../session.ts';
import { CaTimeline } from './ca-timeline.tsx';
import { Expiring, Issued, IssuedByDomain, IssuedByProfile, Rejections } from './charts.tsx';
import { Figures } from './figures.tsx';
import { HealthCard, HealthNotices, useHealth } from './health.tsx';
import type { Expiry, Failures, Issuance } from './readings.ts';

const m = messages({ title: 'Overview' }, { title: 'Übersicht' });

export const overview: Page = {
  path: '/',
  title: () => m('title'),
  navigation: { group: 'attention', order: 0 },
  view: Overview,
};

/** What needs attention first, then figures, then how things went and will go. What the role does not show is left out. */
function Overview() {
  const zone = `time_zone=${encodeURIComponent(timeZone())}`;
  const seesCertificates = may('certificates.read');
  const health = useHealth();
  const expiry = useShared<Expiry>(seesCertificates ? `/api/overview/expiry/?${zone}` : undefined);
  const issuance = useShared<Issuance>(seesCertificates ? `/api/overview/issuance/?${zone}` : undefined);
  const failures = useRead<Failures>(may('audit.read') ? '/api/overview/failures/' : undefined);
  return (
    <>
      <Heading title={m('title')} />
      {health.data && <HealthNotices of={health.data} />}
      <Figures expiry={expiry} failures={failures} health={health} />
      <div class="board">
        {seesCertificates && <Expiring asked={expiry} />}
        {seesCertificates && <Issued asked={issuance} />}
        {may('cas.read') && <CaTimeline />}
        <HealthCard asked={health} />
        {seesCertificates && <IssuedByDomain asked={issuance} />}
        {seesCertificates && <IssuedByProfile asked={issuance} />}
        {may('audit.read') && <Rejections asked={failures} />}
      </div>
    </>
  );
}
