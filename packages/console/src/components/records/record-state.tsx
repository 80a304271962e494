import { Badge, Progress, Text } from '@mantine/core';
import type { RecordItem } from '@quartermaster/contract';
import { useLanguage } from '../../language/language.tsx';
import { tones } from '../tones.ts';
import { correctionOf } from './record-words.ts';

const colors = {
  creating: 'cyan.9',
  ready: tones.good,
  partial: tones.caution,
  error: tones.bad,
  deleting: 'gray.7',
} as const;

/** The status of a record; while it is processed, its stage and percentage. */
export function RecordState({ record }: { record: RecordItem }) {
  const { t } = useLanguage();
  const { progress } = record;
  const isCorrected = correctionOf(record) !== undefined;
  if (record.status !== 'creating' || progress === null) {
    return (
      <Badge color={isCorrected ? tones.good : colors[record.status]} data-status={record.status}>
        {t(isCorrected ? 'records.corrected' : `records.status.${record.status}`)}
      </Badge>
    );
  }
  const stage = t(`records.stage.${progress.stage}`);
  return (
    <>
      <Text size="xs" c="dimmed" component="span">
        {stage} · {progress.percent}%
        {progress.attempt > 1 ? ` · ${t('records.attempt', { attempt: progress.attempt })}` : ''}
      </Text>
      <Progress w="100%" value={progress.percent} size="sm" animated aria-label={`${stage}: ${progress.percent}%`} />
    </>
  );
}
