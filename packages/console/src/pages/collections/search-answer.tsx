import { Alert, Button, Text } from '@mantine/core';
import type { ScoredChunk } from '@quartermaster/contract';
import type { AnswerPage, RankingOf } from '../../api/search.ts';
import { useChangePage } from '../../app/page-state.ts';
import { Empty } from '../../components/empty.tsx';
import { formatMs } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { type Translate, useLanguage } from '../../language/language.tsx';
import classes from './collections.module.css';
import { wordsFound } from './mark-terms.ts';
import { SearchResult } from './search-result.tsx';

export interface SearchAnswerProps {
  readonly pages: readonly AnswerPage[];
  readonly question: string;
  /** The threshold of the question; empty: none. */
  readonly threshold: string;
  readonly nameOf: (collectionId: string) => string;
  /** The chunk whose document is open; empty: none. */
  readonly openId: string;
  readonly onOpen: (chunk: ScoredChunk) => void;
}

/** How the question was ranked, and its results. */
export function SearchAnswer({ pages, question, threshold, nameOf, openId, onOpen }: SearchAnswerProps) {
  const { t } = useLanguage();
  const [first] = pages;
  if (first === undefined) return null;
  const chunks = pages.flatMap(({ data }) => data);
  const words = wordsFound(question, chunks);
  const isOne = first.rankings.length === 1;
  return (
    <section aria-label={t('search.results')}>
      <Text size="sm" c="dimmed">
        {t('search.took', { count: chunks.length, time: formatMs(first.ms) })}{' '}
        {first.reranking === 'off' ? '' : t(`search.reranking.${first.reranking}`)}
      </Text>
      <ul className={classes.rankings}>
        {first.rankings.map((ranking) => (
          <li key={ranking.collection_id}>
            {isOne ? '' : `${nameOf(ranking.collection_id)}: `}
            {describeRanking(ranking, t)}
          </li>
        ))}
      </ul>
      {chunks.length > 0 && !first.good_match ? (
        <Alert color="orange" variant="light" icon={<Icon name="warning" />} title={t('search.noGood')} mb="sm">
          {t('search.noGoodMatch')}
        </Alert>
      ) : null}
      {chunks.length === 0 ? <NoMatch threshold={threshold} /> : null}
      <ol className={classes.results}>
        {chunks.map((chunk, index) => (
          <SearchResult
            key={chunk.chunk_id}
            chunk={chunk}
            place={index + 1}
            words={words}
            collection={isOne ? null : nameOf(chunk.collection_id)}
            isOpen={chunk.chunk_id === openId}
            onOpen={() => onOpen(chunk)}
          />
        ))}
      </ol>
    </section>
  );
}

function describeRanking({ ranking, ranking_reason: reason }: RankingOf, t: Translate): string {
  const why = reason === null ? '' : ` ${t(`search.reason.${reason}`)}`;
  return `${t(`search.ranking.${ranking}`)}${why}`;
}

/** With a threshold, weaker results may exist. */
function NoMatch({ threshold }: { threshold: string }) {
  const { t } = useLanguage();
  const change = useChangePage();
  if (threshold === '') {
    return (
      <Empty icon="search" title={t('search.none')}>
        {t('search.noneAbout')}
      </Empty>
    );
  }
  return (
    <Empty icon="search" title={t('search.noGood')}>
      {t('search.noGoodAbout', { threshold })}{' '}
      <Button mt="sm" size="xs" variant="default" onClick={() => change({ score: undefined }, 'replace')}>
        {t('search.showWeaker')}
      </Button>
    </Empty>
  );
}
