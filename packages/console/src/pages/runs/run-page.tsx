import { Alert, Progress, Stack, Text } from '@mantine/core';
import type { Run } from '@quartermaster/contract';
import { useParams } from '@tanstack/react-router';
import { isGoing, useRun } from '../../api/runs.ts';
import { FactCards } from '../../components/fact-cards.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatMs, formatTime } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ParentLink } from '../../components/parent-link.tsx';
import { Phases } from '../../components/runs/phases.tsx';
import { RunOutput } from '../../components/runs/run-output.tsx';
import { Section } from '../../components/section.tsx';
import { useLanguage } from '../../language/language.tsx';
import { RunActions } from './run-actions.tsx';
import { RunCalls } from './run-calls.tsx';
import { RunEnd } from './run-end.tsx';
import classes from './runs.module.css';

/** One run: status, timings, result and outbound calls. */
export function RunPage() {
  const { t } = useLanguage();
  const { runId } = useParams({ strict: false }) as { runId: string }; // of this page's route
  const run = useRun(runId);
  if (run.error !== null) return <Failure error={run.error} onRetry={() => void run.refetch()} />;
  if (run.data === undefined) return <Loading />;
  const { bundle_id: bundleId, plugin_id: pluginId } = run.data;
  return (
    <>
      <PageHead
        parent={<ParentLink to="/runs">{t('runs.title')}</ParentLink>}
        title={`${bundleId}/${pluginId ?? t(`origin.${run.data.origin}`)}`}
        about={runId}
        actions={<RunActions run={run.data} />}
      />
      <RunView run={run.data} />
    </>
  );
}

function RunView({ run }: { run: Run }) {
  const { t, code, explain } = useLanguage();
  const facts = [
    { name: 'when', label: t('run.when'), text: formatTime(run.created_timestamp, code) },
    { name: 'took', label: t('run.duration'), text: run.duration_ms === null ? '…' : formatMs(run.duration_ms) },
    { name: 'origin', label: t('run.origin'), text: t(`origin.${run.origin}`) },
    { name: 'isolation', label: t('plugin.isolation'), text: t(`isolation.${run.isolation}`) },
  ];
  return (
    <Stack gap="xl">
      <div aria-live="polite">
        <RunEnd run={run} />
        {isGoing(run) ? <RunProgress progress={run.progress} /> : null}
      </div>
      {run.error === null ? null : (
        <Alert color="red" variant="light" icon={<Icon name="warning" />} title={run.error.code}>
          {explain({ code: run.error.code, message: run.error.message ?? '' })}
        </Alert>
      )}
      <FactCards facts={facts} />
      {run.phases === null ? null : (
        <Section id="phases" title={t('phases.title')}>
          <Phases phases={run.phases} />
        </Section>
      )}
      <KeptResult run={run} />
      <RunCalls run={run} />
    </Stack>
  );
}

/** The progress that the plugin reports, if any. */
function RunProgress({ progress }: Pick<Run, 'progress'>) {
  const { t } = useLanguage();
  if (progress === null) return null;
  const percent = Math.round(progress.fraction * 100);
  return (
    <div className={classes.progress}>
      <Progress value={percent} animated aria-label={t('run.progress', { percent })} />
      <Text size="sm" c="dimmed" mt={4}>
        {percent}%{progress.message === null ? '' : ` · ${progress.message}`}
      </Text>
    </div>
  );
}

/** The result of a background run. */
function KeptResult({ run }: { run: Run }) {
  const { t, code } = useLanguage();
  if (!run.asynchronous || run.outcome !== 'succeeded') return null;
  const { result, result_expires_timestamp: expires } = run;
  return (
    <Section id="result" title={t('try.result')}>
      {result === null ? <Text size="sm">{t('run.resultGone')}</Text> : <RunOutput result={result} />}
      {result === null || expires === null ? null : (
        <Text size="sm" c="dimmed" mt="xs">
          {t('run.resultKept', { time: formatTime(expires, code) })}
        </Text>
      )}
    </Section>
  );
}
