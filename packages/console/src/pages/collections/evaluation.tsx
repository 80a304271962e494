import { Alert, Button, FileInput, Stack, Table, Text } from '@mantine/core';
import type { Collection, EvaluationCounts, Evaluation as EvaluationItem } from '@quartermaster/contract';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { currentProject, filesApi } from '../../api/addresses.ts';
import { storeFile } from '../../api/send-file.ts';
import { Empty } from '../../components/empty.tsx';
import { FactCards } from '../../components/fact-cards.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatTime } from '../../components/format.ts';
import { useLanguage } from '../../language/language.tsx';

/** Asks the collection the questions of a sheet and shows at which places it finds their answers. */
export function Evaluation({ collection }: { collection: Collection }) {
  const { t } = useLanguage();
  const [sheet, setSheet] = useState<File | null>(null);
  const evaluation = useMutation({
    mutationFn: (file: File) => evaluate(collection.collection_id, file, t('failure.offline')),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (sheet !== null) evaluation.mutate(sheet);
  };
  return (
    <Stack gap="lg">
      <form onSubmit={submit}>
        <Stack align="flex-start" gap="sm">
          <FileInput
            label={t('evaluation.sheet')}
            description={t('evaluation.sheetAbout')}
            placeholder={t('evaluation.choose')}
            accept=".csv,.xlsx"
            value={sheet}
            onChange={setSheet}
          />
          <Button type="submit" loading={evaluation.isPending} disabled={sheet === null}>
            {t('evaluation.go')}
          </Button>
        </Stack>
      </form>
      {evaluation.error === null ? null : <Failure error={evaluation.error} />}
      {evaluation.data === undefined ? (
        <Empty icon="search" title={t('evaluation.start')}>
          {t('evaluation.startAbout')}
        </Empty>
      ) : (
        <Result result={evaluation.data} />
      )}
    </Stack>
  );
}

/** The sheet is only needed for the evaluation. */
async function evaluate(collectionId: string, file: File, offline: string): Promise<EvaluationItem> {
  const sent = { file, purpose: 'qa_record_file', projectId: currentProject() } as const;
  const fileId = await storeFile(sent, offline);
  try {
    return await filesApi.data('POST /v1/collections/{collection_id}/evaluations', {
      path: { collection_id: collectionId },
      body: { file_id: fileId },
    });
  } finally {
    await filesApi.json('DELETE /v1/files/{file_id}', { path: { file_id: fileId } });
  }
}

const places = ['num_first', 'num_within_three', 'num_within_ten'] as const;

function Result({ result }: { result: EvaluationItem }) {
  const { t, code } = useLanguage();
  const { previous } = result;
  const shareOf = (counts: EvaluationCounts, name: (typeof places)[number]) =>
    t('evaluation.share', { count: counts[name], all: counts.num_questions });
  const facts = places.map((name) => ({
    name,
    label: t(`evaluation.${name}`),
    text:
      previous === null
        ? shareOf(result, name)
        : t('evaluation.compared', { now: shareOf(result, name), before: shareOf(previous, name) }),
  }));
  const failed = result.questions.filter(({ rank }) => rank !== 1);
  const placeOf = (rank: number | null) => (rank === null ? t('evaluation.notFound') : String(rank));
  return (
    <div role="status">
      <FactCards facts={facts} />
      <Text size="sm" c="dimmed" my="sm">
        {previous === null
          ? t('evaluation.noPrevious')
          : t('evaluation.previous', { time: formatTime(previous.created_timestamp, code) })}
      </Text>
      <Skipped result={result} />
      {failed.length === 0 ? (
        result.num_skipped === 0 && <Text>{t('evaluation.allFirst')}</Text>
      ) : (
        <Table.ScrollContainer minWidth={480} type="native" tabIndex={0}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('evaluation.question')}</Table.Th>
                <Table.Th>{t('evaluation.expected')}</Table.Th>
                <Table.Th>{t('evaluation.place')}</Table.Th>
                <Table.Th>{t('evaluation.before')}</Table.Th>
                <Table.Th>{t('evaluation.best')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {failed.map(({ question, expected, rank, previous_rank: was, best }, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a sheet may repeat a question, and the list never changes
                <Table.Tr key={at}>
                  <Table.Td>{question}</Table.Td>
                  <Table.Td>{expected}</Table.Td>
                  <Table.Td>{placeOf(rank)}</Table.Td>
                  <Table.Td>{was === undefined ? '–' : placeOf(was)}</Table.Td>
                  <Table.Td>{best ?? '–'}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </div>
  );
}

/** The rows of the sheet that were not asked. */
function Skipped({ result: { num_skipped: count, skipped } }: { result: EvaluationItem }) {
  const { t, explain } = useLanguage();
  if (count === 0) return null;
  const lines = skipped.map((row) => `${t('records.row', { row: row.row })}: ${explain(row)}`);
  return (
    <Alert color="orange" variant="light" mb="sm" title={t('evaluation.skipped', { count })}>
      <Text size="sm" style={{ whiteSpace: 'pre-line' }}>
        {lines.join('\n')}
      </Text>
    </Alert>
  );
}
