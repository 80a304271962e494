import { useDeferredValue, useState } from 'react';
import { useFoundCollections } from '../../api/collections.ts';
import { Failure } from '../../components/failure.tsx';
import { useLanguage } from '../../language/language.tsx';
import { NameChoice } from './name-choice.tsx';

export interface CollectionChoiceProps {
  /** Names by id. */
  readonly chosen: ReadonlyMap<string, string>;
  readonly onChange: (chosen: ReadonlyMap<string, string>) => void;
  readonly isMissing: boolean;
}

/** Collections to check. */
export function CollectionChoice({ chosen, onChange, isMissing }: CollectionChoiceProps) {
  const { t } = useLanguage();
  const [text, setText] = useState('');
  const found = useFoundCollections(useDeferredValue(text.trim()));
  const titles = new Map(chosen);
  for (const { collection_id: id, name } of found.data ?? []) titles.set(id, name || id);
  return (
    <NameChoice
      label={t('settings.collections')}
      hint={t('settings.collectionsHint')}
      searchLabel={t('settings.collectionSearch')}
      none={t('settings.noCollections')}
      error={isMissing ? t('settings.collectionMissing') : null}
      failure={found.error === null ? null : <Failure error={found.error} onRetry={() => void found.refetch()} />}
      text={text}
      onSearch={setText}
      chosen={[...chosen.keys()]}
      onChange={(ids) => onChange(new Map(ids.map((id) => [id, titles.get(id) ?? id])))}
      titles={titles}
    />
  );
}
