import { Alert, Stack } from '@mantine/core';
import type { BundlePlan, InstalledBundle } from '@quartermaster/contract';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../app/project.tsx';
import { Empty } from '../../components/empty.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ParentLink } from '../../components/parent-link.tsx';
import { useLanguage } from '../../language/language.tsx';
import { InstalledList } from './installed-list.tsx';
import { PlanForm } from './plan-form.tsx';
import { nothingWanted, type Wanted } from './plan-source.ts';
import { PlanView } from './plan-view.tsx';

/** Plan, install, update and remove integrations that others have written. For administrators of the service. */
export function Integrations() {
  const { t } = useLanguage();
  const [plan, setPlan] = useState<BundlePlan | null>(null);
  const [initial, setInitial] = useState<Wanted>(nothingWanted);
  const [done, setDone] = useState<InstalledBundle | null>(null);
  const isAdministrator = useMay('administer');
  const show = (next: BundlePlan) => {
    setDone(null);
    setPlan(next);
  };
  /** Asks for the new version of a bundle that is not from a package. */
  const ask = ({ kind, bundle_id: bundleId, package: from }: InstalledBundle) => {
    setInitial({ ...nothingWanted, kind, bundleId, url: kind === 'mcp' ? from : '' });
    setDone(null);
    setPlan(null);
  };
  const finish = (installed: InstalledBundle | null) => {
    setDone(installed);
    setPlan(null);
  };
  return (
    <>
      <PageHead
        parent={<ParentLink to="/catalogue">{t('catalogue.title')}</ParentLink>}
        title={t('integrations.title')}
        about={t('integrations.about')}
      />
      {isAdministrator ? (
        <Stack gap={40}>
          {done === null ? null : <Done installed={done} />}
          {plan === null ? (
            <PlanForm key={`${initial.kind} ${initial.bundleId}`} initial={initial} onPlan={show} />
          ) : (
            <PlanView key={plan.bundle_plan_id} plan={plan} onDone={finish} />
          )}
          <InstalledList onPlan={show} onSource={ask} />
        </Stack>
      ) : (
        <Empty icon="catalogue" title={t('failure.refused')} />
      )}
    </>
  );
}

function Done({ installed }: { installed: InstalledBundle }) {
  const { t } = useLanguage();
  return (
    <Alert variant="light" color="cyan" role="status" title={t('integrations.done', { name: installed.bundle_id })}>
      {t('catalogue.plugins', { count: installed.actions.length })}
      {' · '}
      <Link to="/catalogue" search={(page) => ({ ...page, q: installed.bundle_id })}>
        {t('catalogue.title')}
      </Link>
    </Alert>
  );
}
