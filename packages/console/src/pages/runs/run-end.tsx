import { Badge } from '@mantine/core';
import type { RunItem } from '@quartermaster/contract';
import { useLanguage } from '../../language/language.tsx';

/** The status of a run, or its outcome. */
export function RunEnd({ run }: { run: RunItem }) {
  const { t } = useLanguage();
  if (run.outcome === null) {
    return <Badge color="cyan.9">{t(run.status === 'queued' ? 'runs.queued' : 'runs.running')}</Badge>;
  }
  const color = run.outcome === 'succeeded' ? 'teal.9' : run.outcome === 'cancelled' ? 'gray.7' : 'red.9';
  return <Badge color={color}>{t(`outcome.${run.outcome}`)}</Badge>;
}
