import { Alert, Button, FileInput, Stack, Table, Text } from '@mantine/core';
import { ApiError } from '@quartermaster/client/api';
import type { Collection, EvaluationCounts, Evaluation as EvaluationItem, SheetColumns } from '@quartermaster/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { currentProject, filesApi } from '../../api/addresses.ts';
import { storeFile } from '../../api/send-file.ts';
import { Empty } from '../../components/empty.tsx';
import { FactCards } from '../../components/fact-cards.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatTime } from '../../components/format.ts';
import { Loading } from '../../components/loading.tsx';
import {
  type Chosen,
  ColumnFields,
  chosenIn,
  isComplete,
  nameOfColumn,
  type SheetChoice,
  toColumns,
} from '../../components/records/column-form.tsx';
import { fill, useLanguage } from '../../language/language.tsx';
import { evaluationWords } from './evaluation-words.ts';

/** Asks the collection the questions of a sheet and shows at which places it finds their answers. */
export function Evaluation({ collection }: { collection: Collection }) {
  const { t, code } = useLanguage();
  const words = evaluationWords[code];
  const [sheet, setSheet] = useState<File | null>(null);
  const queries = useQueryClient();
  const { collection_id } = collection;
  const queryKey = ['evaluation', collection_id];
  const last = useQuery({
    queryKey,
    queryFn: () => filesApi.data('GET /v1/collections/{collection_id}/evaluations', { path: { collection_id } }),
  });
  // The columns that the last attempt with this sheet took or found, and those that the next one takes.
  const [columns, setColumns] = useState<{ readonly proposal: SheetChoice; readonly chosen: Chosen }>();
  const propose = (proposal: SheetChoice | undefined) =>
    setColumns(proposal && { proposal, chosen: chosenIn(proposal) });
  const evaluation = useMutation({
    mutationFn: (file: File) =>
      evaluate(collection_id, {
        file,
        offline: t('failure.offline'),
        ...(columns && { columns: toColumns(columns.proposal, columns.chosen) }),
      }),
    onSuccess: (result) => {
      queries.setQueryData(queryKey, [result]);
      propose(result.sheets?.[0]);
    },
    onError: (error) => {
      const proposal = proposalIn(error);
      if (proposal !== undefined) propose(proposal);
    },
  });
  const choose = (file: File | null) => {
    setSheet(file);
    setColumns(undefined);
    evaluation.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (sheet !== null) evaluation.mutate(sheet);
  };
  return (
    <Stack gap="lg">
      <form onSubmit={submit}>
        <Stack align="flex-start" gap="sm">
          <FileInput
            label={words.sheet}
            description={words.sheetAbout}
            placeholder={words.choose}
            accept=".csv,.xlsx"
            value={sheet}
            onChange={choose}
          />
          {columns === undefined ? null : (
            <ColumnFields
              {...columns}
              answerLabel={words.expected}
              onChoose={(chosen) => setColumns({ ...columns, chosen })}
            />
          )}
          <Button
            type="submit"
            loading={evaluation.isPending}
            disabled={sheet === null || (columns !== undefined && !isComplete(columns.chosen))}
          >
            {words.go}
          </Button>
        </Stack>
      </form>
      {evaluation.error === null ? null : <Failure error={evaluation.error} />}
      {last.error === null ? null : <Failure error={last.error} onRetry={() => void last.refetch()} />}
      {last.isPending ? <Loading /> : null}
      {last.data?.length === 0 ? (
        <Empty icon="search" title={words.start}>
          {words.startAbout}
        </Empty>
      ) : null}
      {last.data?.map((result) => (
        <Result key={result.created_timestamp} result={result} />
      ))}
    </Stack>
  );
}

interface Evaluated {
  readonly file: File;
  readonly columns?: SheetColumns;
  /** The message when the service cannot be reached. */
  readonly offline: string;
}

/** The sheet is only needed for the evaluation. */
async function evaluate(collectionId: string, { file, columns, offline }: Evaluated): Promise<EvaluationItem> {
  const sent = { file, purpose: 'qa_record_file', projectId: currentProject() } as const;
  const fileId = await storeFile(sent, offline);
  try {
    return await filesApi.data('POST /v1/collections/{collection_id}/evaluations', {
      path: { collection_id: collectionId },
      body: { file_id: fileId, ...(columns && { columns }) },
    });
  } finally {
    await filesApi.json('DELETE /v1/files/{file_id}', { path: { file_id: fileId } });
  }
}

/** The first sheet whose columns were not found. */
function proposalIn(error: unknown): SheetChoice | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const [sheet] = (error.details[0]?.sheets ?? []) as readonly SheetChoice[]; // ProposedColumns of the contract
  return sheet;
}

const places = ['num_first', 'num_within_three', 'num_within_ten'] as const;

function Result({ result }: { result: EvaluationItem }) {
  const { code } = useLanguage();
  const words = evaluationWords[code];
  const { previous } = result;
  // The counts of other questions say nothing about these.
  const isSame =
    previous !== null && previous.num_same === result.num_questions && previous.num_same === previous.num_questions;
  const shareOf = (counts: EvaluationCounts, name: (typeof places)[number]) =>
    fill(words.share, { count: counts[name], all: counts.num_questions });
  const facts = places.map((name) => ({
    name,
    label: words[name],
    text:
      previous === null || !isSame
        ? shareOf(result, name)
        : fill(words.compared, { now: shareOf(result, name), before: shareOf(previous, name) }),
  }));
  const comparison = () => {
    if (previous === null) return words.noPrevious;
    const { num_same: same, num_questions: all, created_timestamp: at } = previous;
    const time = formatTime(at, code);
    return isSame ? fill(words.previous, { time }) : fill(words.other, { time, same, all });
  };
  const failed = result.questions.filter(({ rank }) => rank !== 1);
  const placeOf = (rank: number | null) => (rank === null ? words.notFound : String(rank));
  return (
    <div role="status">
      <FactCards facts={facts} />
      <Text size="sm" c="dimmed" my="sm">
        {fill(words.at, { time: formatTime(result.created_timestamp, code) })} {comparison()} <Taken result={result} />
      </Text>
      <Skipped result={result} />
      {failed.length === 0 ? (
        result.num_skipped === 0 && <Text>{words.allFirst}</Text>
      ) : (
        <Table.ScrollContainer minWidth={480} type="native" tabIndex={0}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.question}</Table.Th>
                <Table.Th>{words.expected}</Table.Th>
                <Table.Th>{words.place}</Table.Th>
                <Table.Th>{words.before}</Table.Th>
                <Table.Th>{words.best}</Table.Th>
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

/** The columns of the questions and of what was expected. */
function Taken({ result: { sheets = [] } }: { result: EvaluationItem }) {
  const { t, code } = useLanguage();
  const [sheet] = sheets;
  if (sheet === undefined) return null;
  const { question, answer } = sheet.columns;
  return fill(evaluationWords[code].taken, {
    question: nameOfColumn(sheet, question, t),
    expected: nameOfColumn(sheet, answer, t),
  });
}

/** The rows of the sheet that were not asked. */
function Skipped({ result: { num_skipped: count, skipped } }: { result: EvaluationItem }) {
  const { t, code, explain } = useLanguage();
  if (count === 0) return null;
  const lines = skipped.map((row) => `${t('records.row', { row: row.row })}: ${explain(row)}`);
  return (
    <Alert color="orange" variant="light" mb="sm" title={fill(evaluationWords[code].skipped, { count })}>
      <Text size="sm" style={{ whiteSpace: 'pre-line' }}>
        {lines.join('\n')}
      </Text>
    </Alert>
  );
}
