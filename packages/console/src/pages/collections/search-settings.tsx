import { Button, Checkbox, NativeSelect } from '@mantine/core';
import { type Collection, mostAskedCollections } from '@quartermaster/contract';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import type { Question } from '../../api/search.ts';
import { useChangePage, usePageChoice, usePageState } from '../../app/page-state.ts';
import { Loading } from '../../components/loading.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './collections.module.css';

const modes = ['', 'fused', 'words', 'vectors'] as const;
const neighbours = ['0', '1', '2', '3', '5'] as const;
/** The first is the value without a choice. */
const shares = ['', '0.1', '0.2', '0.25', '0.3', '0.4', '0.5', '0.6', '0.7', '0.8', '0.9'] as const;

/** The settings of a question, which the URL holds. */
export function useSearchSettings(collectionId: string) {
  const { in: others = '', rerank } = usePageState();
  const [mode, setMode] = usePageChoice('mode', modes, 'replace');
  const [expand, setExpand] = usePageChoice('expand', neighbours, 'replace');
  const [score, setScore] = usePageChoice('score', shares, 'replace');
  const [similarity, setSimilarity] = usePageChoice('similarity', shares, 'replace');
  const also = others.split(',').filter((id) => id !== '' && id !== collectionId);
  const collections = [collectionId, ...new Set(also)].slice(0, mostAskedCollections);
  const settings: Question['settings'] = {
    ...(expand === '0' ? {} : { expand: Number(expand) }),
    ...(mode === '' ? {} : { mode }),
    ...(score === '' ? {} : { score_threshold: Number(score) }),
    ...(similarity === '' ? {} : { min_similarity: Number(similarity) }),
    ...(rerank === '1' ? { rerank: true } : {}),
  };
  return { collections, settings, mode, setMode, expand, setExpand, score, setScore, similarity, setSimilarity };
}

export interface SearchSettingsProps {
  readonly collection: Collection;
  readonly chosen: ReturnType<typeof useSearchSettings>;
}

/** A closed box with the settings of a question. Each change asks again. */
export function SearchSettings({ collection, chosen }: SearchSettingsProps) {
  const { t } = useLanguage();
  const { rerank } = usePageState();
  const change = useChangePage();
  const { collections, settings, mode, setMode, expand, setExpand, score, setScore, similarity, setSimilarity } =
    chosen;
  const [isOpen] = useState(Object.keys(settings).length > 0 || collections.length > 1);
  const options = (none: string) => shares.map((value) => ({ value, label: value === '' ? none : value }));
  return (
    <details className={classes.settings} open={isOpen}>
      <summary>{t('search.settings')}</summary>
      <div className={classes.fields}>
        <NativeSelect
          label={t('search.expand')}
          description={t('search.expandAbout')}
          value={expand}
          onChange={(event) => setExpand(event.currentTarget.value)}
          data={[...neighbours]}
        />
        <NativeSelect
          label={t('search.threshold')}
          description={t('search.thresholdAbout')}
          value={score}
          onChange={(event) => setScore(event.currentTarget.value)}
          data={options(t('search.noThreshold'))}
        />
        <NativeSelect
          label={t('search.mode')}
          description={t('search.modeAbout')}
          value={mode}
          onChange={(event) => setMode(event.currentTarget.value)}
          data={modes.map((value) => ({ value, label: t(`search.mode.${value === '' ? 'default' : value}`) }))}
        />
        <NativeSelect
          label={t('search.minSimilarity')}
          description={t('search.minSimilarityAbout')}
          value={similarity}
          onChange={(event) => setSimilarity(event.currentTarget.value)}
          data={options(t('search.mode.default'))}
        />
      </div>
      <Checkbox
        mt="sm"
        label={t('search.rerank')}
        description={t('search.rerankAbout')}
        checked={rerank === '1'}
        onChange={(event) => change({ rerank: event.currentTarget.checked ? '1' : undefined }, 'replace')}
      />
      <OtherCollections collection={collection} asked={collections} />
    </details>
  );
}

/** The other collections of the project, of which the question may ask some, too. */
function OtherCollections({ collection, asked }: { collection: Collection; asked: readonly string[] }) {
  const { t } = useLanguage();
  const change = useChangePage();
  const list = useInfiniteList({
    queryKey: ['collections', 'list', {}],
    load: (page, signal) => filesApi.json('GET /v1/collections', { query: page, signal }),
    idOf: (item) => item.collection_id,
  });
  const others = list.items.filter(({ collection_id: id }) => id !== collection.collection_id);
  if (list.isPending) return <Loading rows={1} />;
  if (others.length === 0) return null;
  return (
    <Checkbox.Group
      mt="sm"
      label={t('search.others', { most: mostAskedCollections })}
      value={asked.slice(1)}
      onChange={(ids) => change({ in: ids.slice(0, mostAskedCollections - 1).join(','), chunk: undefined }, 'replace')}
    >
      <div className={classes.choices}>
        {others.map((other) => (
          <Checkbox
            key={other.collection_id}
            value={other.collection_id}
            label={other.name === '' ? t('collections.unnamed') : other.name}
          />
        ))}
        {list.hasNextPage ? (
          <Button size="compact-sm" variant="default" onClick={list.loadMore}>
            {t('action.more')}
          </Button>
        ) : null}
      </div>
    </Checkbox.Group>
  );
}
