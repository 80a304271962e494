import { Button, Group, Progress, Text, VisuallyHidden } from '@mantine/core';
import type { Chunk, ScoredChunk } from '@quartermaster/contract';
import { Link } from '@tanstack/react-router';
import { languageOfPassage } from '../../components/passage-language.ts';
import { describePlace } from '../../components/records/record-words.ts';
import { Term } from '../../components/term.tsx';
import { type Translate, useLanguage } from '../../language/language.tsx';
import classes from './collections.module.css';
import { termsIn } from './mark-terms.ts';
import { Marked } from './marked.tsx';
import { tableWords } from './table-words.ts';

/** Why a chunk was found, if the service explains it. */
interface Explained {
  readonly explanation?: {
    readonly words: { readonly rank: number; readonly score: number; readonly matched: readonly string[] } | null;
    readonly vector: { readonly rank: number | null; readonly similarity: number } | null;
  };
}

export interface SearchResultProps {
  readonly chunk: ScoredChunk & Explained;
  readonly place: number;
  /** The words of the question that are marked. */
  readonly words: readonly string[];
  /** The name of its collection, if the question asked several. */
  readonly collection: string | null;
  /** Whether its document is open beside the results. */
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

/** The id of the button that opens the document of a result. */
export const openerOf = (chunkId: string) => `open-${chunkId}`;

/** One search result: its place, its text and the reasons for its rank. */
export function SearchResult({ chunk, place, words, collection, isOpen, onOpen }: SearchResultProps) {
  const { t, code } = useLanguage();
  const where = describePlace(chunk.locator, t);
  const name = chunk.title || chunk.file_name || chunk.url || t('search.unnamed');
  return (
    <li className={classes.result} data-chosen={isOpen || undefined}>
      <Group justify="space-between" gap="xs">
        <div className={classes.source}>
          <Text size="sm" fw={600}>
            {place}. {name}
          </Text>
          <Text size="xs" c="dimmed">
            {[collection, chunk.file_name === name ? null : chunk.file_name, where].filter(Boolean).join(' · ')}
          </Text>
        </div>
        <Group gap="xs" wrap="nowrap">
          <Text size="xs" c="dimmed">
            <Term about={tableWords[code].score}>{t('search.score', { score: chunk.score.toFixed(3) })}</Term>
          </Text>
          <Progress w={90} size="sm" value={chunk.score * 100} aria-hidden="true" />
        </Group>
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section className={classes.passage} tabIndex={0} aria-label={t('search.passage', { place, name })}>
        <Neighbours chunks={chunk.neighbours?.before} />
        <div lang={languageOfPassage(chunk.content)}>
          {chunk.question === undefined ? (
            <Marked text={chunk.content} words={words} />
          ) : (
            <>
              <strong>
                <Marked text={chunk.question} words={words} />
              </strong>
              {'\n'}
              <Marked text={chunk.answer ?? ''} words={words} />
            </>
          )}
        </div>
        <Neighbours chunks={chunk.neighbours?.after} />
      </section>
      <Why chunk={chunk} words={words} />
      <ResultLinks chunk={chunk} place={place} name={name} isOpen={isOpen} onOpen={onOpen} />
    </li>
  );
}

interface ResultLinksProps extends Pick<SearchResultProps, 'chunk' | 'place' | 'isOpen' | 'onOpen'> {
  readonly name: string;
}

/** Ways to the document of a result: beside the results, or on its page. A chunk without a record has none. */
function ResultLinks({ chunk, place, name, isOpen, onOpen }: ResultLinksProps) {
  const { t } = useLanguage();
  const { collection_id: collectionId, chunk_id: chunkId, record_id: recordId } = chunk;
  if (recordId === null) return null;
  return (
    <Group gap="md" mt="sm">
      <Button
        id={openerOf(chunkId)}
        size="xs"
        variant="default"
        aria-expanded={isOpen}
        aria-label={`${t('search.beside')}: ${place}. ${name}`}
        onClick={onOpen}
      >
        {t('search.beside')}
      </Button>
      <Text size="sm" component="span">
        <Link
          to="/collections/$collectionId/records/$recordId"
          params={{ collectionId, recordId }}
          hash={chunkId}
          aria-label={`${t('search.show')}: ${name}`}
        >
          {t('search.show')}
        </Link>
      </Text>
    </Group>
  );
}

/** Chunks of the record before or after the result. */
function Neighbours({ chunks = [] }: { chunks: readonly Chunk[] | undefined }) {
  const { t, code } = useLanguage();
  return chunks.map((chunk) => (
    <div key={chunk.chunk_id} className={classes.neighbour} lang={languageOfPassage(chunk.content)}>
      <VisuallyHidden lang={code}>{t('search.neighbour')}</VisuallyHidden>
      {chunk.question === undefined ? chunk.content : `${chunk.question}\n${chunk.answer ?? ''}`}
    </div>
  ));
}

function Why({ chunk, words }: { chunk: ScoredChunk & Explained; words: readonly string[] }) {
  const { t } = useLanguage();
  const { explanation } = chunk;
  const found = termsIn(`${chunk.question ?? ''} ${chunk.content}`, words);
  return (
    <div className={classes.why}>
      <strong>{t('search.why')}</strong>
      {explanation?.words == null ? null : (
        <>
          <p>{t('search.words', { rank: explanation.words.rank, share: Math.round(explanation.words.score * 100) })}</p>
          <p>{t('search.matched', { words: explanation.words.matched.join(', ') })}</p>
        </>
      )}
      {explanation?.vector == null ? null : <p>{describeVector(explanation.vector, t)}</p>}
      {explanation === undefined ? (
        <p>{t('search.shares', { found: found.length, all: words.length, words: found.join(', ') })}</p>
      ) : null}
    </div>
  );
}

function describeVector({ rank, similarity }: { rank: number | null; similarity: number }, t: Translate): string {
  const shown = similarity.toFixed(3);
  return rank === null
    ? t('search.similarity', { similarity: shown })
    : t('search.vector', { rank, similarity: shown });
}
