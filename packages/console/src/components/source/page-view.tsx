import { Alert, Button, Group, Text } from '@mantine/core';
import type { Chunk, PassageBoxes, RecordItem } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { filesApi, isMissing } from '../../api/addresses.ts';
import { useChangePage, usePageState } from '../../app/page-state.ts';
import { type MessageKey, useLanguage } from '../../language/language.tsx';
import { toDataUrl } from '../data-url.ts';
import { Failure } from '../failure.tsx';
import { Icon } from '../icons.tsx';
import { Loading } from '../loading.tsx';
import { nameOfRecord } from '../records/record-words.ts';
import { scrollToMark } from './scroll-to-mark.ts';
import classes from './source.module.css';
import { TextView } from './text-view.tsx';

type Boxes = PassageBoxes['pages'][number];
interface Shown {
  readonly record: RecordItem;
  readonly chunk: Chunk | undefined;
}

/** The picture of a page of a PDF document or of a picture file, with the passage boxed. The URL names the page if the passage is on another one. */
export function PageView({ record, chunk }: Shown) {
  const { t } = useLanguage();
  const { page: chosen = '' } = usePageState();
  const first = chunk?.locator?.page ?? 1;
  const page = /^[1-9][0-9]{0,5}$/.test(chosen) ? Number(chosen) : first;
  const picture = usePicture(record, page);
  const boxes = useBoxes(chunk);
  const known = record.report?.pages;
  const last = typeof known === 'number' ? known : undefined;
  if (isMissing(picture.error) && (last === undefined || page <= last)) {
    return (
      <>
        <Alert variant="light" color="orange" icon={<Icon name="warning" />} role="status" mb="sm">
          {t('source.fileGone')}
        </Alert>
        <TextView record={record} chunk={chunk} />
      </>
    );
  }
  const onPage = boxes.data?.find((one) => one.page === page);
  return (
    <>
      <PageChoice page={page} first={first} last={last} />
      <Text size="xs" c="dimmed" role="status">
        {t('source.pageOf', { page, last: last ?? '?' })}{' '}
        {chunk === undefined || boxes.isPending ? '' : t(describeMark(boxes.error === null, onPage))}
      </Text>
      {picture.error === null ? null : <Failure error={picture.error} onRetry={() => void picture.refetch()} />}
      {picture.isPending ? <Loading rows={3} /> : null}
      {picture.data === undefined ? null : (
        <Picture
          key={`${page} ${chunk?.chunk_id}`}
          url={picture.data}
          alt={t('source.pictureOf', { page, name: nameOfRecord(record) })}
          boxes={onPage}
        />
      )}
    </>
  );
}

function describeMark(isRead: boolean, onPage: Boxes | undefined): MessageKey {
  if (!isRead) return 'source.notLocated';
  if (onPage === undefined) return 'source.otherPage';
  return onPage.boxes.length === 0 ? 'source.notMarked' : 'source.marked';
}

function usePicture({ collection_id, record_id, updated_timestamp: version }: RecordItem, page: number) {
  const path = { collection_id, record_id, page: String(page) };
  return useQuery({
    queryKey: ['picture', path, version],
    queryFn: async ({ signal }) => {
      const endpoint = 'GET /v1/collections/{collection_id}/records/{record_id}/pages/{page}/picture';
      const answer = await filesApi.send(endpoint, { path, query: { width: 1400 }, signal });
      return toDataUrl(await answer.blob());
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The boxes are drawn over the picture, so that one picture serves all passages of its page. */
function useBoxes(chunk: Chunk | undefined) {
  const { collection_id = '', chunk_id = '', updated_timestamp: version } = chunk ?? {};
  return useQuery({
    queryKey: ['boxes', chunk_id, version],
    queryFn: async ({ signal }) => {
      const path = { collection_id, chunk_id };
      return (await filesApi.data('GET /v1/collections/{collection_id}/chunks/{chunk_id}/boxes', { path, signal }))
        .pages;
    },
    enabled: chunk?.locator?.page !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

function PageChoice({ page, first, last }: { page: number; first: number; last: number | undefined }) {
  const { t } = useLanguage();
  const change = useChangePage();
  const go = (next: number) => change({ page: next === first ? undefined : String(next) }, 'replace');
  return (
    <Group gap="xs" mb={6}>
      <Button size="xs" variant="default" disabled={page <= 1} onClick={() => go(page - 1)}>
        {t('source.previousPage')}
      </Button>
      <Button size="xs" variant="default" disabled={last !== undefined && page >= last} onClick={() => go(page + 1)}>
        {t('source.nextPage')}
      </Button>
      {page === first ? null : (
        <Button size="xs" variant="subtle" onClick={() => go(first)}>
          {t('source.passagePage', { page: first })}
        </Button>
      )}
    </Group>
  );
}

function Picture({ url, alt, boxes }: { url: string; alt: string; boxes: Boxes | undefined }) {
  const { t } = useLanguage();
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    if (boxes !== undefined) scrollToMark(box.current);
  }, [boxes]);
  const share = (part: number, whole: number) => `${(part / whole) * 100}%`;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section ref={box} className={classes.scroll} tabIndex={0} aria-label={t('source.pageLabel')}>
      <div className={classes.sheet}>
        <img src={url} alt={alt} onLoad={() => scrollToMark(box.current)} />
        {boxes?.boxes.map(([left = 0, top = 0, width = 0, height = 0]) => (
          <div
            key={`${left} ${top} ${width} ${height}`}
            className={classes.box}
            data-mark=""
            style={{
              left: share(left, boxes.width),
              top: share(top, boxes.height),
              width: share(width, boxes.width),
              height: share(height, boxes.height),
            }}
          />
        ))}
      </div>
    </section>
  );
}
