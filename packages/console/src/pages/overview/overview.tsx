import { Alert, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { filesApi, pluginsApi } from '../../api/addresses.ts';
import { rates, type Sample, total, useSamples } from '../../api/metrics.ts';
import { runsKey } from '../../api/runs.ts';
import { type Action, may } from '../../app/may.ts';
import { useMay, useProjectChoice } from '../../app/project.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatBytes, formatMs, formatNumber } from '../../components/format.ts';
import { Icon, type IconName } from '../../components/icons.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { SparkLine } from '../../components/spark-line.tsx';
import { useLanguage } from '../../language/language.tsx';
import { RunRow } from '../runs/runs.tsx';
import classes from './overview.module.css';

/** Current activity, from the metrics that a key with scope admin can read. */
export function Overview() {
  const { t } = useLanguage();
  const isManager = useMay('manage');
  const { samples, error, refetch } = useSamples(isManager);
  const version = useQuery({ queryKey: ['version'], queryFn: () => filesApi.data('GET /v1/version') });
  const about = `${t('overview.about')} ${version.data === undefined ? '' : t('overview.version', version.data)}`;
  return (
    <>
      <PageHead title={t('overview.title')} about={about} />
      <Stack gap={36}>
        {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
        <StoreAlerts sample={samples.at(-1)} />
        <Start />
        {isManager ? <Charts samples={samples} /> : null}
        <RecentRuns />
      </Stack>
    </>
  );
}

const alerts = [
  ['quartermaster_blobs_damaged', 'overview.damaged'],
  ['quartermaster_blobs_orphaned', 'overview.orphaned'],
] as const;

/** Conditions that need the operator's attention. */
function StoreAlerts({ sample }: { sample: Sample | undefined }) {
  const { t, code } = useLanguage();
  if (sample === undefined) return null;
  return alerts.map(([name, words]) => {
    const count = total(sample, name);
    if (count === 0) return null;
    return (
      <Alert key={name} color="red" variant="light" title={t('overview.attention')}>
        {t(words, { count: formatNumber(count, code) })}
      </Alert>
    );
  });
}

const steps = [
  ['/settings', 'overview.start1', 'key', 'manage'],
  ['/files', 'overview.start2', 'upload', 'change'],
  ['/collections', 'overview.start3', 'collections', 'change'],
  ['/catalogue', 'overview.start4', 'play'],
] as const satisfies ReadonlyArray<readonly [string, string, IconName, Action?]>;

function Start() {
  const { t } = useLanguage();
  const { session, projectId } = useProjectChoice();
  return (
    <nav aria-label={t('overview.start')}>
      <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }}>
        {steps
          .filter(([, , , needs]) => needs === undefined || may(session, projectId, needs))
          .map(([to, label, icon]) => (
            <Link key={to} to={to} className={classes.step}>
              <Icon name={icon} />
              {t(label)}
            </Link>
          ))}
      </SimpleGrid>
    </nav>
  );
}

const requests = 'quartermaster_http_requests_total';
const seconds = 'quartermaster_http_request_seconds';
const isFailure = ({ status = '' }: Readonly<Record<string, string>>) => status.startsWith('5');

function Charts({ samples }: { samples: readonly Sample[] }) {
  const { t, code } = useLanguage();
  const limits = useQuery({ queryKey: ['limits'], queryFn: () => filesApi.data('GET /v1/limits') });
  const last = samples.at(-1);
  const of = (name: string) => (sample: Sample) => total(sample, name);
  const perSecond = rates(samples, of(requests));
  const spent = rates(samples, of(`${seconds}_sum`));
  const answered = rates(samples, of(`${seconds}_count`));
  const latency = spent.map((sum, index) => (answered[index] ? (sum / (answered[index] ?? 1)) * 1000 : 0));
  const failures = rates(samples, (sample) => total(sample, requests, isFailure)).map((rate) => rate * 60);
  const runs = rates(samples, of('quartermaster_executions_total')).map((rate) => rate * 60);
  const now = (values: readonly number[]) => values.at(-1);
  const number = (value: number | undefined) =>
    value === undefined ? t('overview.collecting') : formatNumber(value, code);
  const ms = (value: number | undefined) => (value === undefined ? t('overview.collecting') : formatMs(value));
  const memory = samples.map(of('process_resident_memory_bytes'));
  const queue = samples.map(of('quartermaster_sandbox_waiting'));
  const sum = (name: string, passes?: typeof isFailure) =>
    last === undefined ? '…' : formatNumber(total(last, name, passes), code);
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }} spacing={{ base: 'xs', xs: 'md' }}>
      <Chart name={t('overview.requests')} value={number(now(perSecond))} values={perSecond}>
        {t('overview.since', { count: sum(requests) })}
      </Chart>
      <Chart name={t('overview.latency')} value={ms(now(latency))} values={latency} />
      <Chart name={t('overview.errors')} value={number(now(failures))} values={failures}>
        {t('overview.since', { count: sum(requests, isFailure) })}
      </Chart>
      <Chart name={t('overview.runs')} value={number(now(runs))} values={runs}>
        {t('overview.since', { count: sum('quartermaster_executions_total') })}
      </Chart>
      <Chart name={t('overview.queue')} value={number(now(queue))} values={queue} />
      <Chart
        name={t('overview.storage')}
        value={limits.data === undefined ? '…' : formatBytes(limits.data.quota.bytes_used ?? 0)}
        values={[]}
      />
      <Chart
        name={t('overview.memory')}
        value={last === undefined ? '…' : formatBytes(memory.at(-1) ?? 0)}
        values={memory}
      />
    </SimpleGrid>
  );
}

interface ChartProps {
  readonly name: string;
  readonly value: string;
  readonly values: readonly number[];
  readonly children?: string;
}

function Chart({ name, value, values, children }: ChartProps) {
  return (
    <div className={classes.chart}>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text size="xl" fw={700}>
        {value}
      </Text>
      <SparkLine values={values} />
      <Text size="xs" c="dimmed">
        {children ?? '\u00a0'}
      </Text>
    </div>
  );
}

function RecentRuns() {
  const { t } = useLanguage();
  const runs = useQuery({
    queryKey: [...runsKey, 'recent'],
    queryFn: () => pluginsApi.data('GET /v1/runs', { query: { limit: 5 } }),
    refetchInterval: 5000,
  });
  if (runs.data === undefined || runs.data.length === 0) return null;
  return (
    <section aria-labelledby="recent">
      <Title order={2} size="h4" id="recent" mb="sm">
        {t('overview.recent')}
      </Title>
      <ul className={classes.runs}>
        {runs.data.map((run) => (
          <li key={run.run_id}>
            <RunRow run={run} />
          </li>
        ))}
      </ul>
    </section>
  );
}
