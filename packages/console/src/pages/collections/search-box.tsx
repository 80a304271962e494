import { Button, NativeSelect, Stack, TextInput, VisuallyHidden } from '@mantine/core';
import type { Collection, ScoredChunk } from '@quartermaster/contract';
import { useQueries } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useAnswer } from '../../api/search.ts';
import { useChangePage, usePageChoice, usePageState } from '../../app/page-state.ts';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { useKeptFocus } from '../../components/forms/use-focus-return.ts';
import { Icon } from '../../components/icons.tsx';
import { Loading } from '../../components/loading.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './collections.module.css';
import { SearchAnswer } from './search-answer.tsx';
import { SearchDocument } from './search-document.tsx';
import { openerOf } from './search-result.tsx';
import { SearchSettings, useSearchSettings } from './search-settings.tsx';

const counts = ['10', '3', '5', '20', '50', '100'] as const;

/** A search form and the results of the question in the URL. */
export function SearchBox({ collection }: { collection: Collection }) {
  const { t } = useLanguage();
  const { q: question = '' } = usePageState();
  const [count, setCount] = usePageChoice('count', counts, 'replace');
  const chosen = useSearchSettings(collection.collection_id);
  const { collections, settings, score } = chosen;
  const answer = useAnswer({ text: question, collections, settings: { ...settings, top_k: Number(count) } });
  useKeptFocus(answer.isFetching);
  const found = answer.data?.pages.reduce((sum, { data }) => sum + data.length, 0);
  const isWeak = found === 0 ? score !== '' : answer.data?.pages[0]?.good_match === false;
  return (
    <Stack gap="lg">
      <QuestionForm
        question={question}
        isBusy={answer.isFetching}
        onAgain={() => void answer.refetch()}
        count={count}
        onCount={setCount}
      />
      <SearchSettings collection={collection} chosen={chosen} />
      {answer.error === null ? null : <Failure error={answer.error} onRetry={() => void answer.refetch()} />}
      {answer.isLoading ? <Loading rows={3} /> : null}
      <VisuallyHidden role="status">
        {found === undefined || answer.isFetching ? null : (
          <>
            {isWeak ? <span>{t('search.noGood')} </span> : null}
            {isWeak && found === 0 ? null : <span>{t('search.found', { count: found })}</span>}
          </>
        )}
      </VisuallyHidden>
      {question === '' ? (
        <Empty icon="search" title={t('search.start')}>
          {t('search.startAbout')}
        </Empty>
      ) : null}
      <Beside collection={collection} answer={answer} question={question} threshold={score} />
    </Stack>
  );
}

interface QuestionFormProps {
  readonly question: string;
  readonly isBusy: boolean;
  /** Asks the same question again. */
  readonly onAgain: () => void;
  readonly count: string;
  readonly onCount: (count: string) => void;
}

function QuestionForm({ question, isBusy, onAgain, count, onCount }: QuestionFormProps) {
  const { t } = useLanguage();
  const change = useChangePage();
  const [text, setText] = useState(question);
  const [shown, setShown] = useState(question);
  if (shown !== question) {
    setShown(question);
    setText(question);
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '') return;
    if (text === question) onAgain();
    else change({ q: text, chunk: undefined, page: undefined }, 'push');
  };
  return (
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
        onChange={(event) => onCount(event.currentTarget.value)}
        data={counts.toSorted((a, b) => Number(a) - Number(b))}
      />
      <Button type="submit" loading={isBusy} leftSection={<Icon name="search" size={16} />}>
        {t('search.go')}
      </Button>
    </form>
  );
}

interface BesideProps {
  readonly collection: Collection;
  readonly answer: ReturnType<typeof useAnswer>;
  readonly question: string;
  readonly threshold: string;
}

/** The results, and beside them the document of the result that the URL names. */
function Beside({ collection, answer, question, threshold }: BesideProps) {
  const { t } = useLanguage();
  const { chunk: open = '' } = usePageState();
  const change = useChangePage();
  const nameOf = useCollectionNames(collection);
  const [focusCount, setFocusCount] = useState(0);
  const openChunk = ({ collection_id: collectionId, chunk_id: chunkId }: ScoredChunk) => {
    change({ chunk: `${collectionId}/${chunkId}`, page: undefined }, 'replace');
    setFocusCount((count) => count + 1);
  };
  const [collectionId = '', chunkId = ''] = open.split('/');
  const close = () => {
    change({ chunk: undefined, page: undefined }, 'replace');
    document.getElementById(openerOf(chunkId))?.focus();
  };
  return (
    <div className={chunkId === '' ? undefined : classes.beside}>
      <div>
        <SearchAnswer
          pages={answer.data?.pages ?? []}
          question={question}
          threshold={threshold}
          nameOf={nameOf}
          openId={chunkId}
          onOpen={openChunk}
        />
        {answer.hasNextPage ? (
          <Button
            mt="md"
            variant="default"
            loading={answer.isFetchingNextPage}
            onClick={() => void answer.fetchNextPage()}
          >
            {t('search.more')}
          </Button>
        ) : null}
      </div>
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

/** The names of collections, for results of several ones. */
function useCollectionNames(collection: Collection): (collectionId: string) => string {
  const { t } = useLanguage();
  const names = useQueries({
    queries: useSearchSettings(collection.collection_id).collections.map((id) => ({
      queryKey: ['collection', id],
      queryFn: () => filesApi.data('GET /v1/collections/{collection_id}', { path: { collection_id: id } }),
    })),
  });
  return (id) => names.find(({ data }) => data?.collection_id === id)?.data?.name || t('collections.unnamed');
}
