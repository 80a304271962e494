import { Group, Progress, Text } from '@mantine/core';
import type { ScoredChunk } from '@quartermaster/contract';
import { Link } from '@tanstack/react-router';
import { describePlace } from '../../components/records/record-words.ts';
import { type Translate, useLanguage } from '../../language/language.tsx';
import classes from './collections.module.css';
import { Marked, wordsOf } from './marked.tsx';

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
  readonly question: string;
}

/** One search result: its place, its text and the reasons for its rank. */
export function SearchResult({ chunk, place, question }: SearchResultProps) {
  const { t } = useLanguage();
  const words = wordsOf(question);
  const where = describePlace(chunk.locator, t);
  return (
    <li className={classes.result}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600}>
          {place}. {where}
        </Text>
        <Group gap="xs" wrap="nowrap">
          <Text size="xs" c="dimmed">
            {t('search.score', { score: chunk.score.toFixed(3) })}
          </Text>
          <Progress w={90} size="sm" value={chunk.score * 100} aria-hidden="true" />
        </Group>
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section className={classes.passage} tabIndex={0} aria-label={`${place}`}>
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
      </section>
      <Why chunk={chunk} words={words} />
      {chunk.record_id === null ? null : (
        <Text size="sm" mt="sm">
          <Link
            to="/collections/$collectionId/records/$recordId"
            params={{ collectionId: chunk.collection_id, recordId: chunk.record_id }}
            hash={chunk.chunk_id}
          >
            {t('search.show')}
          </Link>
        </Text>
      )}
    </li>
  );
}

function Why({ chunk, words }: { chunk: ScoredChunk & Explained; words: readonly string[] }) {
  const { t } = useLanguage();
  const { explanation } = chunk;
  const text = `${chunk.question ?? ''} ${chunk.content}`.toLowerCase();
  const found = words.filter((word) => text.includes(word));
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
