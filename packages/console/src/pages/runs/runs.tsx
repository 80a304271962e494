import { Group, NativeSelect, Text } from '@mantine/core';
import { type RunItem, runOutcomes } from '@quartermaster/contract';
import { Link } from '@tanstack/react-router';
import { pluginsApi } from '../../api/addresses.ts';
import { useBundles } from '../../api/catalogue.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { runsKey } from '../../api/runs.ts';
import { useChangePage, usePageChoice, usePageState } from '../../app/page-state.ts';
import { Empty } from '../../components/empty.tsx';
import { formatAge, formatMs } from '../../components/format.ts';
import { InfiniteList } from '../../components/infinite-list.tsx';
import { ListCount } from '../../components/lists/list-count.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { PhaseLegend, Phases } from '../../components/runs/phases.tsx';
import { useLanguage } from '../../language/language.tsx';
import { RunEnd } from './run-end.tsx';
import classes from './runs.module.css';

const outcomes = ['', 'none', ...runOutcomes] as const;

/** The runs of the project, refreshed while the page is open. */
export function Runs() {
  const { t } = useLanguage();
  const bundles = useBundles().data ?? [];
  const { bundle: bundleId = '' } = usePageState();
  const change = useChangePage();
  const [outcome, setOutcome] = usePageChoice('outcome', outcomes, 'replace');
  const isFiltered = bundleId !== '' || outcome !== '';
  const query = { bundle_id: bundleId || undefined, outcome: outcome || undefined };
  const list = useInfiniteList({
    queryKey: [...runsKey, 'list', query],
    load: (page, signal) => pluginsApi.json('GET /v1/runs', { query: { ...page, ...query }, signal }),
    idOf: (run) => run.run_id,
    // New runs can start at any time.
    refreshMs: 3000,
  });
  return (
    <>
      <PageHead title={t('runs.title')} about={t('runs.about')} />
      <div className={classes.filters}>
        <NativeSelect
          label={t('runs.bundle')}
          value={bundleId}
          onChange={(event) => change({ bundle: event.currentTarget.value }, 'replace')}
          data={[
            { value: '', label: t('runs.allBundles') },
            ...bundles.map((bundle) => ({ value: bundle.bundle_id, label: bundle.name })),
          ]}
        />
        <NativeSelect
          label={t('runs.outcome')}
          value={outcome}
          onChange={(event) => setOutcome(event.currentTarget.value)}
          data={[
            { value: '', label: t('runs.allOutcomes') },
            { value: 'none', label: t('runs.unfinished') },
            ...runOutcomes.map((value) => ({ value, label: t(`outcome.${value}`) })),
          ]}
        />
      </div>
      <Group justify="space-between" gap="xs" mb="xs">
        <ListCount list={list} isAnnounced={false} />
        <PhaseLegend />
      </Group>
      <InfiniteList
        list={list}
        label={t('runs.list')}
        rowHeight={66}
        empty={
          <Empty icon="runs" title={t(isFiltered ? 'runs.noneFound' : 'runs.none')}>
            {isFiltered ? '' : t('runs.noneAbout')}{' '}
            {isFiltered ? null : <Link to="/catalogue">{t('nav.catalogue')}</Link>}
          </Empty>
        }
      >
        {(run) => <RunRow run={run} />}
      </InfiniteList>
    </>
  );
}

export function RunRow({ run }: { run: RunItem }) {
  const { t, code } = useLanguage();
  return (
    <Link to="/runs/$runId" params={{ runId: run.run_id }} className={classes.row} data-run={run.run_id}>
      <span className={classes.words}>
        <span className={classes.name}>
          {run.bundle_id}/{run.plugin_id ?? t(`origin.${run.origin}`)}
        </span>
        <Text size="xs" c="dimmed" component="span" className={classes.cut}>
          {formatAge(run.created_timestamp, code)} · {t(`origin.${run.origin}`)}
          {run.error_code === null ? '' : ` · ${run.error_code}`}
        </Text>
      </span>
      <span className={classes.times}>
        <Text size="xs" component="span">
          {run.duration_ms === null ? '…' : formatMs(run.duration_ms)}
        </Text>
        {run.phases === null ? null : <Phases phases={run.phases} isShort />}
      </span>
      <span className={classes.end}>
        <RunEnd run={run} />
      </span>
    </Link>
  );
}
