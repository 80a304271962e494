import { Button, Text, Title } from '@mantine/core';
import type { Chunk } from '@quartermaster/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { Fragment, useEffect, useRef } from 'react';
import { filesApi } from '../../api/addresses.ts';
import type { Page } from '../../api/infinite-list.ts';
import { Failure } from '../../components/failure.tsx';
import { Loading } from '../../components/loading.tsx';
import { describePlace } from '../../components/records/record-words.ts';
import { useLanguage } from '../../language/language.tsx';
import classes from './record.module.css';

const pageSize = 20;
/** Where a page of chunks starts: after a chunk, before one, or at the one in the URL's fragment. */
type Place = { readonly after: string } | { readonly before: string } | { readonly around: string } | null;
/** Path parameters of the endpoints of one record. */
export interface RecordPath {
  readonly collection_id: string;
  readonly record_id: string;
}

interface Part extends Page<Chunk> {
  readonly startsAt: Place;
}

function placeAfter(last: Part): Place | undefined {
  const end = last.data.at(-1);
  const isUp = last.startsAt !== null && 'before' in last.startsAt;
  return end !== undefined && (last.has_more || isUp) ? { after: end.chunk_id } : undefined;
}

function placeBefore(first: Part): Place | undefined {
  const start = first.data[0];
  const isFirst = first.startsAt === null || (!('around' in first.startsAt) && !first.has_more);
  return start === undefined || isFirst ? undefined : { before: start.chunk_id };
}

/** The chunks in source order. The fragment of the URL may name the chunk to show first. */
export function ChunkList({ path }: { path: RecordPath }) {
  const { t } = useLanguage();
  const chosen = useLocation().hash;
  const read = async (place: Place, signal: AbortSignal): Promise<Part> => {
    if (place === null || !('around' in place)) {
      const query = { limit: pageSize, order: 'asc' as const, ...place };
      const page = await filesApi.json('GET /v1/collections/{collection_id}/records/{record_id}/chunks', {
        path,
        query,
        signal,
      });
      return { ...page, startsAt: place };
    }
    const chunk = await filesApi.data('GET /v1/collections/{collection_id}/chunks/{chunk_id}', {
      path: { collection_id: path.collection_id, chunk_id: place.around },
      signal,
    });
    return { data: [chunk], has_more: true, startsAt: place };
  };
  const list = useInfiniteQuery({
    queryKey: ['chunks', path, chosen],
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: (chosen === '' ? null : { around: chosen }) as Place,
    getNextPageParam: placeAfter,
    getPreviousPageParam: placeBefore,
  });
  const { isSuccess, fetchNextPage, fetchPreviousPage } = list;
  const isAlone = list.data?.pages.length === 1 && chosen !== '';
  useEffect(() => {
    if (!isSuccess || !isAlone) return;
    void fetchPreviousPage().then(() => fetchNextPage());
  }, [isSuccess, isAlone, fetchNextPage, fetchPreviousPage]);
  const chunks = list.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <section aria-labelledby="chunks">
      <Heading hasPages={chunks.some(({ locator }) => locator?.page !== undefined)} />
      {list.error === null ? null : <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending ? <Loading /> : null}
      {list.hasPreviousPage ? (
        <Button
          variant="default"
          size="xs"
          onClick={() => void fetchPreviousPage()}
          loading={list.isFetchingPreviousPage}
        >
          {t('records.earlier')}
        </Button>
      ) : null}
      <ol className={classes.chunks}>
        {chunks.map((chunk, index) => (
          <ChunkCard
            key={chunk.chunk_id}
            chunk={chunk}
            above={chunks[index - 1]}
            isChosen={chunk.chunk_id === chosen}
            hasNeighbours={!isAlone}
          />
        ))}
      </ol>
      {list.hasNextPage ? (
        <Button
          mt="md"
          variant="default"
          size="xs"
          onClick={() => void fetchNextPage()}
          loading={list.isFetchingNextPage}
        >
          {t('records.later')}
        </Button>
      ) : null}
    </section>
  );
}

function Heading({ hasPages }: { hasPages: boolean }) {
  const { t } = useLanguage();
  return (
    <>
      <Title order={2} size="h4" id="chunks">
        {t('records.document')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {t(hasPages ? 'records.documentByPage' : 'records.documentInOrder')}
      </Text>
    </>
  );
}

interface ChunkCardProps {
  readonly chunk: Chunk;
  readonly above: Chunk | undefined;
  readonly isChosen: boolean;
  /** Whether the chunks before it are on the page. They would move it away after it was scrolled to. */
  readonly hasNeighbours: boolean;
}

function ChunkCard({ chunk, above, isChosen, hasNeighbours }: ChunkCardProps) {
  const { t } = useLanguage();
  const card = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen && hasNeighbours) card.current?.scrollIntoView({ block: 'center' });
  }, [isChosen, hasNeighbours]);
  const { page } = chunk.locator ?? {};
  return (
    <Fragment>
      {page !== undefined && page !== above?.locator?.page ? (
        <li className={classes.page}>{t('records.page', { page })}</li>
      ) : null}
      <li ref={card} className={classes.chunk} data-chosen={isChosen || undefined} id={chunk.chunk_id}>
        <Text size="xs" c="dimmed" mb={4}>
          {describePlace(chunk.locator, t)} · {t('records.tokens', { count: chunk.num_tokens })}
        </Text>
        <div className={classes.text}>
          {chunk.question === undefined ? (
            chunk.content
          ) : (
            <>
              <strong>{chunk.question}</strong>
              {'\n'}
              {chunk.answer}
            </>
          )}
        </div>
      </li>
    </Fragment>
  );
}
