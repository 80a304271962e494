import { Button, NativeSelect, Stack, Text, TextInput, VisuallyHidden } from '@mantine/core';
import type { Collection, ScoredChunk } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useChangePage, usePageChoice, usePageState } from '../../app/page-state.ts';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatMs } from '../../components/format.ts';
import { useKeptFocus } from '../../components/forms/use-focus-return.ts';
import { Icon } from '../../components/icons.tsx';
import { Loading } from '../../components/loading.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './collections.module.css';
import { SearchDocument } from './search-document.tsx';
import { openerOf, SearchResult } from './search-result.tsx';

const counts = ['5', '3', '10', '20', '50', '100'] as const;

/** A search form and the results of the question in the URL. */
export function SearchBox({ collection }: { collection: Collection }) {
  const { t } = useLanguage();
  const { q: question = '' } = usePageState();
  const change = useChangePage();
  const [count, setCount] = usePageChoice('count', counts, 'replace');
  const [text, setText] = useState(question);
  const [shown, setShown] = useState(question);
  if (shown !== question) {
    setShown(question);
    setText(question);
  }
  const answer = useAnswer(collection.collection_id, { question, count });
  useKeptFocus(answer.isFetching);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '') return;
    if (text === question) void answer.refetch();
    else change({ q: text, chunk: undefined, page: undefined }, 'push');
  };
  return (
    <Stack gap="lg">
      <form onSubmit={submit} className={classes.question}>
        <TextInput
          label={t('search.label')}
          placeholder={t('search.placeholder')}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          maxLength={32_768}
          required
          withAsterisk={false}
        />
        <NativeSelect
          label={t('search.count')}
          value={count}
          onChange={(event) => setCount(event.currentTarget.value)}
          data={counts.toSorted((a, b) => Number(a) - Number(b))}
        />
        <Button type="submit" loading={answer.isFetching} leftSection={<Icon name="search" size={16} />}>
          {t('search.go')}
        </Button>
      </form>
      {answer.error === null ? null : <Failure error={answer.error} />}
      {answer.isLoading ? <Loading rows={3} /> : null}
      <VisuallyHidden role="status">
        {answer.data === undefined || answer.isFetching ? '' : t('search.found', { count: answer.data.data.length })}
      </VisuallyHidden>
      {question === '' ? (
        <Empty icon="search" title={t('search.start')}>
          {t('search.startAbout')}
        </Empty>
      ) : null}
      <Beside answer={answer.data} />
    </Stack>
  );
}

/** The answer to a question. It is kept, so that the way back from a document shows it again. */
function useAnswer(collectionId: string, { question, count }: { question: string; count: string }) {
  return useQuery({
    queryKey: ['search', collectionId, question, count],
    queryFn: async ({ signal }) => {
      const started = performance.now();
      const found = await filesApi.json('POST /v1/collections/{collection_id}/chunks/query', {
        path: { collection_id: collectionId },
        body: { query_text: question, top_k: Number(count), explain: true },
        signal,
      });
      return { ...found, question, ms: performance.now() - started };
    },
    enabled: question.trim() !== '',
    staleTime: Number.POSITIVE_INFINITY,
  });
}

type AnswerData = ReturnType<typeof useAnswer>['data'];

/** The results, and beside them the document of the result that the URL names. */
function Beside({ answer }: { answer: AnswerData }) {
  const { chunk: open = '' } = usePageState();
  const change = useChangePage();
  const [focusCount, setFocusCount] = useState(0);
  const openChunk = ({ collection_id: collection, chunk_id: chunk }: ScoredChunk) => {
    change({ chunk: `${collection}/${chunk}`, page: undefined }, 'replace');
    setFocusCount((count) => count + 1);
  };
  const [collectionId = '', chunkId = ''] = open.split('/');
  const close = () => {
    change({ chunk: undefined, page: undefined }, 'replace');
    document.getElementById(openerOf(chunkId))?.focus();
  };
  return (
    <div className={chunkId === '' ? undefined : classes.beside}>
      <Answer answer={answer} openId={chunkId} onOpen={openChunk} />
      {chunkId === '' ? null : (
        <SearchDocument
          path={{ collection_id: collectionId, chunk_id: chunkId }}
          focusCount={focusCount}
          onClose={close}
        />
      )}
    </div>
  );
}

interface AnswerProps {
  readonly answer: AnswerData;
  readonly openId: string;
  readonly onOpen: (chunk: ScoredChunk) => void;
}

function Answer({ answer, openId, onOpen }: AnswerProps) {
  const { t } = useLanguage();
  if (answer === undefined) return null;
  if (answer.data.length === 0) {
    return (
      <Empty icon="search" title={t('search.none')}>
        {t('search.noneAbout')}
      </Empty>
    );
  }
  return (
    <section aria-label={t('search.results')}>
      <Text size="sm" c="dimmed" mb="xs">
        {t('search.took', { count: answer.data.length, time: formatMs(answer.ms) })}{' '}
        {t(`search.ranking.${answer.ranking}`)}{' '}
        {answer.ranking_reason === null ? null : t(`search.reason.${answer.ranking_reason}`)}
      </Text>
      <ol className={classes.results}>
        {answer.data.map((chunk, index) => (
          <SearchResult
            key={chunk.chunk_id}
            chunk={chunk}
            place={index + 1}
            question={answer.question}
            isOpen={chunk.chunk_id === openId}
            onOpen={() => onOpen(chunk)}
          />
        ))}
      </ol>
    </section>
  );
}
