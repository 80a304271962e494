import { Button, Text } from '@mantine/core';
import type { Chunk, RecordItem } from '@quartermaster/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useLanguage } from '../../language/language.tsx';
import { Failure } from '../failure.tsx';
import { Loading } from '../loading.tsx';
import { languageOfPassage } from '../passage-language.ts';
import { scrollToMark } from './scroll-to-mark.ts';
import classes from './source.module.css';

/** Offsets in the extracted text. */
interface Range {
  readonly start: number;
  readonly end: number;
}

interface TextPart extends Range {
  readonly text: string;
  readonly hasMore: boolean;
}

/** How much text is read before and after the passage, and with each button. */
const step = 4000;
/** The API gives at least two and at most this many characters at once. */
const most = 100_000;

/** The extracted text around a passage, which is marked and scrolled to. Without a passage, the beginning. */
export function TextView({ record, chunk }: { record: RecordItem; chunk: Chunk | undefined }) {
  const { t } = useLanguage();
  const box = useRef<HTMLElement>(null);
  const passage = rangeOf(chunk);
  const text = useTextParts(record, passage ?? { start: 0, end: 0 });
  const parts = text.data?.pages ?? [];
  const isRead = parts.length > 0;
  const key = chunk?.chunk_id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another passage is another place to scroll to.
  useEffect(() => {
    if (isRead) scrollToMark(box.current);
  }, [isRead, key]);
  if (text.error !== null) return <Failure error={text.error} onRetry={() => void text.refetch()} />;
  if (!isRead) return <Loading rows={3} />;
  return (
    <>
      <Text size="xs" c="dimmed" role="status">
        {t(chunk === undefined ? 'source.text' : passage === null ? 'source.noPlace' : 'source.textMarked')}
      </Text>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section ref={box} className={classes.scroll} tabIndex={0} aria-label={t('source.textLabel')}>
        {text.hasPreviousPage ? (
          <More label={t('source.earlier')} isLoading={text.isFetchingPreviousPage} onClick={text.fetchPreviousPage} />
        ) : null}
        <div className={classes.text} lang={languageOfPassage(parts.map((part) => part.text).join(''))}>
          <MarkedRange parts={parts} passage={passage} />
        </div>
        {text.hasNextPage ? (
          <More label={t('source.later')} isLoading={text.isFetchingNextPage} onClick={text.fetchNextPage} />
        ) : null}
      </section>
    </>
  );
}

function More({ label, isLoading, onClick }: { label: string; isLoading: boolean; onClick: () => Promise<unknown> }) {
  return (
    <Button m="xs" size="xs" variant="default" loading={isLoading} onClick={() => void onClick()}>
      {label}
    </Button>
  );
}

/** null: without a passage, or when its text was changed since, so that it stands nowhere in the document. */
function rangeOf(chunk: Chunk | undefined): Range | null {
  const { char_start: start, char_end: end } = chunk?.locator ?? {};
  return start === undefined || end === undefined ? null : { start, end };
}

function MarkedRange({ parts, passage }: { parts: readonly TextPart[]; passage: Range | null }) {
  const text = parts.map((part) => part.text).join('');
  const base = parts[0]?.start ?? 0;
  if (passage === null) return text;
  const start = Math.max(0, passage.start - base);
  const end = Math.max(start, passage.end - base);
  return (
    <>
      {text.slice(0, start)}
      <mark data-mark="">{text.slice(start, end)}</mark>
      {text.slice(end)}
    </>
  );
}

function useTextParts({ collection_id, record_id, updated_timestamp: version }: RecordItem, { start, end }: Range) {
  const path = { collection_id, record_id };
  return useInfiniteQuery({
    queryKey: ['text', path, version, start, end],
    queryFn: async ({ pageParam, signal }): Promise<TextPart> => {
      const texts: string[] = [];
      let { start: at } = pageParam;
      let hasMore = true;
      // Each request returns at most 500 chunks.
      while (hasMore && at < pageParam.end) {
        const query = { char_start: at, max_characters: Math.min(most, Math.max(2, pageParam.end - at)) };
        const endpoint = 'GET /v1/collections/{collection_id}/records/{record_id}/text';
        const part = await filesApi.data(endpoint, { path, query, signal });
        if (part.char_end <= at) break;
        texts.push(part.text.slice(0, pageParam.end - at));
        ({ char_end: at, has_more: hasMore } = part);
      }
      const text = texts.join('');
      return { text, start: pageParam.start, end: pageParam.start + text.length, hasMore };
    },
    initialPageParam: { start: Math.max(0, start - step), end: end + step },
    getNextPageParam: (last) => (last.hasMore ? { start: last.end, end: last.end + step } : undefined),
    getPreviousPageParam: (first) =>
      first.start > 0 ? { start: Math.max(0, first.start - step), end: first.start } : undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
