import { Button, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import type { Collection } from '@quartermaster/contract';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatMs } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { Loading } from '../../components/loading.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './collections.module.css';
import { SearchResult } from './search-result.tsx';

const counts = [3, 5, 10, 20];

/** A search form and its results. */
export function SearchBox({ collection }: { collection: Collection }) {
  const { t } = useLanguage();
  const [text, setText] = useState('');
  const [count, setCount] = useState('5');
  const answer = useMutation({
    mutationFn: async (question: string) => {
      const started = performance.now();
      const found = await filesApi.json('POST /v1/collections/{collection_id}/chunks/query', {
        path: { collection_id: collection.collection_id },
        body: { query_text: question, top_k: Number(count), explain: true },
      });
      return {
        question,
        chunks: found.data,
        ranking: found.ranking,
        reason: found.ranking_reason,
        ms: performance.now() - started,
      };
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== '') answer.mutate(text);
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
          data={counts.map(String)}
        />
        <Button type="submit" loading={answer.isPending} leftSection={<Icon name="search" size={16} />}>
          {t('search.go')}
        </Button>
      </form>
      {answer.error === null ? null : <Failure error={answer.error} />}
      {answer.isPending ? <Loading rows={3} /> : null}
      {answer.isIdle ? (
        <Empty icon="search" title={t('search.start')}>
          {t('search.startAbout')}
        </Empty>
      ) : null}
      {answer.data?.chunks.length === 0 ? (
        <Empty icon="search" title={t('search.none')}>
          {t('search.noneAbout')}
        </Empty>
      ) : null}
      {answer.data === undefined || answer.data.chunks.length === 0 ? null : (
        <section aria-live="polite">
          <Text size="sm" c="dimmed" mb="xs">
            {t('search.took', { count: answer.data.chunks.length, time: formatMs(answer.data.ms) })}{' '}
            {t(`search.ranking.${answer.data.ranking}`)}{' '}
            {answer.data.reason === null ? null : t(`search.reason.${answer.data.reason}`)}
          </Text>
          <ol className={classes.results}>
            {answer.data.chunks.map((chunk, index) => (
              <SearchResult key={chunk.chunk_id} chunk={chunk} place={index + 1} question={answer.data.question} />
            ))}
          </ol>
        </section>
      )}
    </Stack>
  );
}
