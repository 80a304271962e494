import { Badge, Progress, Text } from '@mantine/core';
import type { RecordItem } from '@quartermaster/contract';
import { useLanguage } from '../../language/language.tsx';
import { tones } from '../tones.ts';
import { useCorrections } from './corrections.ts';
import { rowCounts } from './record-words.ts';

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
  const rowsLeft = useCorrections([record]).get(record.record_id)?.rowsLeft;
  if (record.status !== 'creating' || progress === null) {
    const isPartly = rowsLeft !== undefined && rowsLeft > 0 && rowsLeft < rowCounts(record).rejected;
    return (
      <Badge color={rowsLeft === 0 ? tones.good : colors[record.status]} data-status={record.status}>
        {rowsLeft === 0 ? t('records.corrected') : null}
        {isPartly ? t('records.rowsLeft', { count: rowsLeft }) : null}
        {rowsLeft !== 0 && !isPartly ? t(`records.status.${record.status}`) : null}
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
