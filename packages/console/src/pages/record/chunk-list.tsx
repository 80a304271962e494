import { Badge, Button, Group, Text } from '@mantine/core';
import type { Chunk } from '@quartermaster/contract';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment, useEffect, useRef, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import type { Page } from '../../api/infinite-list.ts';
import { useMay } from '../../app/project.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatTime } from '../../components/format.ts';
import { Loading } from '../../components/loading.tsx';
import { languageOfPassage } from '../../components/passage-language.ts';
import { describePlace } from '../../components/records/record-words.ts';
import { Section } from '../../components/section.tsx';
import { Term } from '../../components/term.tsx';
import { tones } from '../../components/tones.ts';
import { useLanguage } from '../../language/language.tsx';
import { EditPassage } from './edit-passage.tsx';
import { passageWords } from './passage-words.ts';
import classes from './record.module.css';

const pageSize = 20;
const look = { variant: 'default', size: 'xs' } as const;
/** Where a page of chunks starts: after a chunk, before one, or at the one in the URL's fragment. */
type Place = { readonly after: string } | { readonly before: string } | { readonly around: Chunk } | null;
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

export interface ChunkListProps {
  readonly path: RecordPath;
  /** The chunk that the URL names. */
  readonly chosen: Chunk | undefined;
  /** The user chose the chunk of the URL once more, or another one. */
  readonly onChoose: () => void;
}

/** The chunks in source order, from the chosen one on if there is one. */
export function ChunkList({ path, chosen, onChoose }: ChunkListProps) {
  const { t, code } = useLanguage();
  const [anchor, setAnchor] = useState(chosen);
  const list = useInfiniteQuery({
    queryKey: ['chunks', path, anchor?.chunk_id],
    queryFn: ({ pageParam, signal }) => readChunks(path, pageParam, signal),
    initialPageParam: (anchor === undefined ? null : { around: anchor }) as Place,
    getNextPageParam: placeAfter,
    getPreviousPageParam: placeBefore,
  });
  const { isSuccess, fetchNextPage, fetchPreviousPage } = list;
  const isAlone = list.data?.pages.length === 1 && anchor !== undefined;
  useEffect(() => {
    if (!isSuccess || !isAlone) return;
    void fetchPreviousPage().then(() => fetchNextPage());
  }, [isSuccess, isAlone, fetchNextPage, fetchPreviousPage]);
  const chunks = list.data?.pages.flatMap((page) => page.data) ?? [];
  const isFar = chosen !== undefined && isSuccess && !chunks.some((chunk) => chunk.chunk_id === chosen.chunk_id);
  if (isFar && chosen.chunk_id !== anchor?.chunk_id) setAnchor(chosen);
  const hasPages = chunks.some(({ locator }) => locator?.page !== undefined);
  return (
    <Section
      id="chunks"
      title={<Term about={passageWords[code].passage}>{t('records.document')}</Term>}
      about={t(hasPages ? 'records.documentByPage' : 'records.documentInOrder')}
    >
      {list.error === null ? null : <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending ? <Loading /> : null}
      {list.hasPreviousPage ? (
        <Button {...look} onClick={() => void fetchPreviousPage()} loading={list.isFetchingPreviousPage}>
          {t('records.earlier')}
        </Button>
      ) : null}
      <ol className={classes.chunks}>
        {chunks.map((chunk, index) => (
          <ChunkCard
            key={chunk.chunk_id}
            chunk={chunk}
            above={chunks[index - 1]}
            isChosen={chunk.chunk_id === chosen?.chunk_id}
            isScrolledTo={chunk.chunk_id === anchor?.chunk_id && !isAlone}
            onChoose={onChoose}
          />
        ))}
      </ol>
      {list.hasNextPage ? (
        <Button {...look} mt="md" onClick={() => void fetchNextPage()} loading={list.isFetchingNextPage}>
          {t('records.later')}
        </Button>
      ) : null}
    </Section>
  );
}

async function readChunks(path: RecordPath, place: Place, signal: AbortSignal): Promise<Part> {
  if (place !== null && 'around' in place) return { data: [place.around], has_more: true, startsAt: place };
  const query = { limit: pageSize, order: 'asc' as const, ...place };
  const endpoint = 'GET /v1/collections/{collection_id}/records/{record_id}/chunks';
  return { ...(await filesApi.json(endpoint, { path, query, signal })), startsAt: place };
}

interface ChunkCardProps {
  readonly chunk: Chunk;
  readonly above: Chunk | undefined;
  readonly isChosen: boolean;
  /** Not before the chunks above it are on the page, because they would move it away. */
  readonly isScrolledTo: boolean;
  readonly onChoose: () => void;
}

function ChunkCard({ chunk, above, isChosen, isScrolledTo, onChoose }: ChunkCardProps) {
  const { t, code } = useLanguage();
  const words = passageWords[code];
  const [isEditing, setEditing] = useState(false);
  const mayEdit = useMay('change');
  const card = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isScrolledTo) card.current?.scrollIntoView({ block: 'center' });
  }, [isScrolledTo]);
  const editButton = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useEffect(() => {
    if (wasEditing.current && !isEditing) editButton.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  const { page } = chunk.locator ?? {};
  const where = describePlace(chunk.locator, t);
  return (
    <Fragment>
      {page !== undefined && page !== above?.locator?.page ? (
        <li className={classes.page}>{t('records.page', { page })}</li>
      ) : null}
      <li ref={card} className={classes.chunk} data-chosen={isChosen || undefined} id={chunk.chunk_id}>
        <Group justify="space-between" gap="xs" mb={4}>
          <ChunkFacts chunk={chunk} where={where} />
          <Group gap="sm">
            {mayEdit && !isEditing ? (
              <Button
                ref={editButton}
                size="compact-xs"
                variant="subtle"
                aria-label={words.editOf.replace('{start}', () => (chunk.question ?? chunk.content).slice(0, 40))}
                onClick={() => setEditing(true)}
              >
                {words.edit}
              </Button>
            ) : null}
            <ShowInDocument chunk={chunk} where={where} onChoose={onChoose} />
          </Group>
        </Group>
        {isEditing ? <EditPassage chunk={chunk} onClose={() => setEditing(false)} /> : null}
        <div hidden={isEditing} className={classes.text} lang={languageOfPassage(chunk.content)}>
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

/** The place of a chunk, its number of tokens, and whether it was edited. */
function ChunkFacts({ chunk, where }: { chunk: Chunk; where: string }) {
  const { t, code } = useLanguage();
  const words = passageWords[code];
  return (
    <Text size="xs" c="dimmed">
      {where} · <Term about={words.token}>{t('records.tokens', { count: chunk.num_tokens })}</Term>
      {chunk.updated_timestamp > chunk.created_timestamp ? (
        <Badge
          component="span"
          size="xs"
          ml="xs"
          color={tones.caution}
          title={formatTime(chunk.updated_timestamp, code)}
        >
          {words.edited}
        </Badge>
      ) : null}
    </Text>
  );
}

interface ShowInDocumentProps extends Pick<ChunkCardProps, 'chunk' | 'onChoose'> {
  readonly where: string;
}

/** Names the chunk in the URL. Its name begins with the visible words and goes on with the beginning of the chunk. */
function ShowInDocument({ chunk, where, onChoose }: ShowInDocumentProps) {
  const { t } = useLanguage();
  const start = (chunk.question ?? chunk.content).slice(0, 40);
  return (
    <Link
      to="."
      search={(state) => ({ ...state, page: undefined })}
      hash={chunk.chunk_id}
      hashScrollIntoView={false}
      resetScroll={false}
      replace
      className={classes.show}
      activeOptions={{ includeHash: true }}
      aria-label={[t('source.show'), where, start].filter(Boolean).join(': ')}
      onClick={onChoose}
    >
      {t('source.show')}
    </Link>
  );
}
