import { Alert, Button, Stack, Table, Text, Title } from '@mantine/core';
import type { Run } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ask } from '../../api/call.ts';
import { useLanguage } from '../../language/language.tsx';
import { Above } from '../../pieces/above.tsx';
import { FactCards } from '../../pieces/fact-cards.tsx';
import { Failure } from '../../pieces/failure.tsx';
import { formatBytes, formatMs, formatTime } from '../../pieces/format.ts';
import { Icon } from '../../pieces/icons.tsx';
import { Loading } from '../../pieces/loading.tsx';
import { PageHead } from '../../pieces/page-head.tsx';
import { Phases } from '../../pieces/phases.tsx';
import { RunEnd } from './run-end.tsx';
import classes from './runs.module.css';

/** One run: how it ended, where its time went, whom it called. */
export function RunPage() {
  const { t } = useLanguage();
  const { runId } = useParams({ strict: false }) as { runId: string }; // of this page's route
  const run = useQuery({
    queryKey: ['/plugins/v1/runs', runId],
    queryFn: () => ask<Run>('GET', `/plugins/v1/runs/${runId}`),
    refetchInterval: ({ state }) => (state.data !== undefined && state.data.status !== 'ended' ? 1000 : false),
  });
  if (run.error !== null) return <Failure error={run.error} onRetry={() => void run.refetch()} />;
  if (run.data === undefined) return <Loading />;
  const { bundle_id: bundleId, plugin_id: pluginId } = run.data;
  return (
    <>
      <PageHead
        above={<Above to="/runs">{t('runs.title')}</Above>}
        title={`${bundleId}/${pluginId ?? t('runs.verify')}`}
        about={runId}
        actions={
          pluginId === null ? null : (
            <Link to="/catalogue/$bundleId/$pluginId" params={{ bundleId, pluginId }}>
              <Button component="span" variant="default" leftSection={<Icon name="play" size={16} />}>
                {t('run.again')}
              </Button>
            </Link>
          )
        }
      />
      <RunView run={run.data} />
    </>
  );
}

function RunView({ run }: { run: Run }) {
  const { t, code } = useLanguage();
  const facts = [
    { name: 'when', label: t('run.when'), text: formatTime(run.created_timestamp, code) },
    { name: 'took', label: t('run.duration'), text: run.duration_ms === null ? '…' : formatMs(run.duration_ms) },
    { name: 'origin', label: t('run.origin'), text: run.origin },
    { name: 'isolation', label: t('plugin.isolation'), text: t(`isolation.${run.isolation}`) },
  ];
  return (
    <Stack gap="xl">
      <div>
        <RunEnd run={run} />
      </div>
      {run.error === null ? null : (
        <Alert color="red" variant="light" icon={<Icon name="warning" />} title={run.error.code}>
          {run.error.message}
        </Alert>
      )}
      <FactCards facts={facts} />
      {run.phases === null ? null : (
        <section aria-labelledby="phases">
          <Title order={2} size="h4" id="phases" mb="sm">
            {t('phases.title')}
          </Title>
          <Phases phases={run.phases} />
        </section>
      )}
      <Calls run={run} />
    </Stack>
  );
}

function Calls({ run }: { run: Run }) {
  const { t } = useLanguage();
  return (
    <section aria-labelledby="calls">
      <Title order={2} size="h4" id="calls" mb="sm">
        {t('run.calls')}
      </Title>
      {run.egress.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('run.noCalls')}
        </Text>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <section className={classes.calls} tabIndex={0} aria-label={t('run.calls')}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('run.host')}</Table.Th>
                <Table.Th>{t('run.method')}</Table.Th>
                <Table.Th>{t('run.status')}</Table.Th>
                <Table.Th>{t('run.bytes')}</Table.Th>
                <Table.Th>{t('run.time')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {run.egress.map((call, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: calls have no name but their place.
                <Table.Tr key={index}>
                  <Table.Td>{call.host}</Table.Td>
                  <Table.Td>{call.method}</Table.Td>
                  <Table.Td>
                    {call.status ?? ''} {t(`call.${call.result}`)}
                  </Table.Td>
                  <Table.Td>{formatBytes(call.bytes)}</Table.Td>
                  <Table.Td>{formatMs(call.ms)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          {run.egress_left_out > 0 ? t('run.leftOut', { count: run.egress_left_out }) : null}
        </section>
      )}
    </section>
  );
}
