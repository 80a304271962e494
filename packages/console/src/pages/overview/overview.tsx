import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { filesApi, pluginsApi } from '../../api/addresses.ts';
import type { Sample } from '../../api/metric-history.ts';
import { rates, total, useSamples } from '../../api/metrics.ts';
import { runsKey } from '../../api/runs.ts';
import { type Action, may } from '../../app/may.ts';
import { useMay, useProjectChoice } from '../../app/project.tsx';
import { LineChart } from '../../components/chart.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatBytes, formatMs, formatNumber } from '../../components/format.ts';
import { Icon, type IconName } from '../../components/icons.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Section } from '../../components/section.tsx';
import { fill, useLanguage } from '../../language/language.tsx';
import { RunRow } from '../runs/runs.tsx';
import { Attention } from './attention.tsx';
import classes from './overview.module.css';
import { overviewWords } from './overview-words.ts';

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
        <Attention sample={samples.at(-1)} />
        <Start />
        {isManager ? <Charts samples={samples} /> : null}
        <RecentRuns />
      </Stack>
    </>
  );
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
const duration = 'quartermaster_http_request_seconds';
const isFailure = ({ status = '' }: Readonly<Record<string, string>>) => status.startsWith('5');

function Charts({ samples }: { samples: readonly Sample[] }) {
  const { t, code } = useLanguage();
  const limits = useQuery({ queryKey: ['limits'], queryFn: () => filesApi.data('GET /v1/limits') });
  const last = samples.at(-1);
  const of = (name: string) => (sample: Sample) => total(sample, name);
  const perSecond = rates(samples, of(requests));
  const spent = rates(samples, of(`${duration}_sum`));
  const answered = rates(samples, of(`${duration}_count`));
  const latency = spent.map((sum, index) => (answered[index] ? (sum / (answered[index] ?? 1)) * 1000 : 0));
  const failures = rates(samples, (sample) => total(sample, requests, isFailure)).map((rate) => rate * 60);
  const runs = rates(samples, of('quartermaster_executions_total')).map((rate) => rate * 60);
  const memory = samples.map(of('process_resident_memory_bytes'));
  const queue = samples.map(of('quartermaster_sandbox_waiting'));
  const since = (name: string, passes?: typeof isFailure) =>
    last === undefined ? '…' : t('overview.since', { count: formatNumber(total(last, name, passes), code) });
  const count = (value: number) => formatNumber(value, code);
  const times = samples.map(({ at }) => at);
  const seconds = last === undefined ? 0 : Math.round((last.at - (samples[0]?.at ?? last.at)) / 1000);
  const plots = [
    [t('overview.requests'), perSecond, count, since(requests)],
    [t('overview.latency'), latency, formatMs],
    [t('overview.errors'), failures, count, since(requests, isFailure)],
    [t('overview.runs'), runs, count, since('quartermaster_executions_total')],
    [t('overview.queue'), queue, count],
    [t('overview.memory'), memory, formatBytes],
  ] as const;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing={{ base: 'xs', xs: 'md' }}>
      {plots.map(([name, values, format, about]) => (
        <Chart
          key={name}
          name={name}
          values={values}
          at={times.slice(-values.length)}
          format={format}
          seconds={seconds}
          about={about}
        />
      ))}
      <div className={classes.chart}>
        <Text size="sm" c="dimmed">
          {t('overview.storage')}
        </Text>
        <Text size="xl" fw={700}>
          {limits.data === undefined ? '…' : formatBytes(limits.data.quota.bytes_used ?? 0)}
        </Text>
      </div>
    </SimpleGrid>
  );
}

interface ChartProps {
  readonly name: string;
  readonly values: readonly number[];
  readonly at: readonly number[];
  readonly format: (value: number) => string;
  /** The time that the chart covers. */
  readonly seconds: number;
  readonly about?: string | undefined;
}

/** The last value of a series, and its chart. */
function Chart({ name, values, at, format, seconds, about }: ChartProps) {
  const { t, code } = useLanguage();
  const words = overviewWords[code];
  const last = values.at(-1);
  const [low = 0, high = 0] = [Math.min(...values), Math.max(...values)].map(format);
  const length = new Intl.NumberFormat(code, { style: 'unit', unit: seconds < 120 ? 'second' : 'minute' });
  return (
    <div className={classes.chart}>
      <Text size="sm" c="dimmed" className={classes.name}>
        {name}
      </Text>
      <Text size="xl" fw={700}>
        {last === undefined ? t('overview.collecting') : format(last)}
      </Text>
      <LineChart
        values={values}
        at={at}
        format={format}
        times={[
          fill(words.start, { time: length.format(seconds < 120 ? seconds : Math.round(seconds / 60)) }),
          words.now,
        ]}
        label={fill(words.axis, { name, low, high, last: format(last ?? 0) })}
      />
      <Text size="xs" c="dimmed">
        {about ?? '\u00a0'}
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
    <Section id="recent" title={t('overview.recent')}>
      <ul className={classes.runs}>
        {runs.data.map((run) => (
          <li key={run.run_id}>
            <RunRow run={run} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
