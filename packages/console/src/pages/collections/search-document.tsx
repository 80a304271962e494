import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { filesApi, isMissing } from '../../api/addresses.ts';
import { Failure } from '../../components/failure.tsx';
import { Loading } from '../../components/loading.tsx';
import { Frame, SourcePanel } from '../../components/source/source-panel.tsx';
import { useLanguage } from '../../language/language.tsx';

export interface SearchDocumentProps {
  readonly path: { readonly collection_id: string; readonly chunk_id: string };
  readonly focusCount: number;
  readonly onClose: () => void;
}

/** The document of a search result, at its passage. The result may have been deleted since the search. */
export function SearchDocument({ path, focusCount, onClose }: SearchDocumentProps) {
  const { t } = useLanguage();
  const found = useQuery({ queryKey: ['passage', path], queryFn: ({ signal }) => readPassage(path, signal) });
  const leave = { label: t('source.close'), go: onClose };
  if (found.data !== undefined && found.data !== null) {
    const { chunk, record } = found.data;
    return <SourcePanel record={record} chunk={chunk} focusCount={focusCount} leave={leave} />;
  }
  const isGone = found.data === null || isMissing(found.error);
  return (
    <Frame title="…" focusCount={0} leave={leave}>
      {isGone ? (
        <Text size="sm" role="status">
          {t('source.passageGone')}
        </Text>
      ) : found.error === null ? (
        <Loading rows={3} />
      ) : (
        <Failure error={found.error} onRetry={() => void found.refetch()} />
      )}
    </Frame>
  );
}

/** Returns null for a chunk without a document. */
async function readPassage(path: SearchDocumentProps['path'], signal: AbortSignal) {
  const chunk = await filesApi.data('GET /v1/collections/{collection_id}/chunks/{chunk_id}', { path, signal });
  if (chunk.record_id === null) return null;
  const record = await filesApi.data('GET /v1/collections/{collection_id}/records/{record_id}', {
    path: { collection_id: path.collection_id, record_id: chunk.record_id },
    signal,
  });
  return { chunk, record };
}
