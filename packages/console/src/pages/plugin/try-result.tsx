import { Group, Text, Title } from '@mantine/core';
import { ApiError } from '@quartermaster/client/api';
import type { ExecuteResult } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { readRun, runsKey } from '../../api/runs.ts';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatMs } from '../../components/format.ts';
import { Loading } from '../../components/loading.tsx';
import { Phases } from '../../components/runs/phases.tsx';
import { RunOutput } from '../../components/runs/run-output.tsx';
import { JsonBox } from '../../components/schema/json-tree.tsx';
import { useLanguage } from '../../language/language.tsx';

export interface TryResultProps {
  readonly result: ExecuteResult | undefined;
  readonly error: Error | null;
  readonly isRunning: boolean;
}

/** The output of the run or its error, and its timings. */
export function TryResult({ result, error, isRunning }: TryResultProps) {
  const { t } = useLanguage();
  const runId = result?.run_id ?? runIdOf(error);
  return (
    <section aria-labelledby="result" aria-live="polite">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5" id="result">
          {t('try.result')}
        </Title>
        {result === undefined ? null : (
          <Text size="sm" c="dimmed">
            {formatMs(result.duration_ms)}
          </Text>
        )}
      </Group>
      {isRunning ? <Loading rows={3} /> : null}
      {!isRunning && error !== null ? <RunFailure error={error} /> : null}
      {!isRunning && result !== undefined ? <RunOutput result={result} /> : null}
      {!isRunning && error === null && result === undefined ? (
        <Empty icon="play" title={t('try.noResult')}>
          {t('try.noResultAbout')}
        </Empty>
      ) : null}
      {isRunning || runId === undefined ? null : <RunTimes runId={runId} />}
    </section>
  );
}

function runIdOf(error: Error | null): string | undefined {
  const found = error instanceof ApiError ? error.details[0]?.run_id : undefined;
  return typeof found === 'string' ? found : undefined;
}

function RunFailure({ error }: { error: Error }) {
  const { t } = useLanguage();
  const details = error instanceof ApiError ? error.details : [];
  return (
    <>
      <Failure error={error} />
      {details.length === 0 ? null : <JsonBox value={details} label={t('failure.details')} />}
    </>
  );
}

/** Runs are stored after their result is sent, later on a busy service. */
const waitForRecord = { tries: 60, ms: 500 } as const;

/** The timings of the run, once it is stored. */
function RunTimes({ runId }: { runId: string }) {
  const { t } = useLanguage();
  const run = useQuery({
    queryKey: [...runsKey, runId],
    queryFn: () => readRun(runId),
    retry: (count, error) => error instanceof ApiError && error.status === 404 && count < waitForRecord.tries,
    retryDelay: waitForRecord.ms,
  });
  if (run.data?.phases == null) return null;
  return (
    <div>
      <Text size="sm" fw={600} mt="md" mb={6}>
        {t('phases.title')}
      </Text>
      <Phases phases={run.data.phases} />
      <Text size="sm" mt="xs">
        <Link to="/runs/$runId" params={{ runId }}>
          {t('try.openRun')}
        </Link>
      </Text>
    </div>
  );
}
