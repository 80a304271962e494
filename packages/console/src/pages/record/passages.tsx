import { Alert } from '@mantine/core';
import type { RecordItem } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { filesApi, isMissing } from '../../api/addresses.ts';
import { Failure } from '../../components/failure.tsx';
import { Icon } from '../../components/icons.tsx';
import { Loading } from '../../components/loading.tsx';
import { SourcePanel } from '../../components/source/source-panel.tsx';
import { useLanguage } from '../../language/language.tsx';
import { ChunkList } from './chunk-list.tsx';
import classes from './record.module.css';

/** The document beside its chunks. The fragment of the URL names the chosen chunk. */
export function Passages({ record }: { record: RecordItem }) {
  const { t } = useLanguage();
  const { collection_id, record_id } = record;
  const id = useLocation().hash;
  const [first] = useState(id);
  const [focusCount, setFocusCount] = useState(0);
  const found = useQuery({
    queryKey: ['chunk', collection_id, id],
    queryFn: ({ signal }) =>
      filesApi.data('GET /v1/collections/{collection_id}/chunks/{chunk_id}', {
        path: { collection_id, chunk_id: id },
        signal,
      }),
    enabled: id !== '',
    // While the next chunk is read, the document stays at the one before.
    placeholderData: (before) => before,
  });
  if (id !== '' && id === first && found.isPending) return <Loading />;
  const isOther = found.data !== undefined && found.data.record_id !== record_id;
  const isGone = id !== '' && (isMissing(found.error) || isOther);
  const chunk = id === '' || isGone ? undefined : found.data;
  const back = () =>
    document
      .getElementById(chunk?.chunk_id ?? '')
      ?.querySelector('a')
      ?.focus();
  return (
    <>
      {isGone ? (
        <Alert color="orange" variant="light" icon={<Icon name="warning" />} role="status">
          {t('source.passageGone')}
        </Alert>
      ) : null}
      {found.error === null || isGone ? null : <Failure error={found.error} onRetry={() => void found.refetch()} />}
      <div className={classes.beside}>
        <SourcePanel
          record={record}
          chunk={chunk}
          focusCount={focusCount}
          leave={chunk === undefined ? undefined : { label: t('source.backToPassage'), go: back }}
        />
        <ChunkList
          path={{ collection_id, record_id }}
          chosen={chunk}
          onChoose={() => setFocusCount((count) => count + 1)}
        />
      </div>
    </>
  );
}
