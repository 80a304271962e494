import { Text } from '@mantine/core';
import type { Collection } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { filesApi } from '../../api/addresses.ts';
import { Failure } from '../../components/failure.tsx';
import { formatCost, formatNumber } from '../../components/format.ts';
import { ConfirmButton } from '../../components/forms/confirm-button.tsx';
import { Loading } from '../../components/loading.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';

export interface ReembedProps {
  readonly item: Collection;
  readonly onChanged: (changed: Collection) => void;
}

/** Creates the vectors of all chunks again, for example after a change of model. Shows first what that takes. */
export function Reembed({ item, onChanged }: ReembedProps) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const embed = async () => {
    const path = { collection_id: item.collection_id };
    onChanged(await filesApi.data('POST /v1/collections/{collection_id}/reembed', { path }));
    say(t('vectors.begun'));
  };
  return (
    <ConfirmButton
      icon="refresh"
      look={{ variant: 'default' }}
      title={t('vectors.reembedTitle', { name: item.name })}
      action={t('vectors.reembed')}
      onConfirm={embed}
    >
      <Estimate collectionId={item.collection_id} />
      {t('vectors.reembedAbout')}
    </ConfirmButton>
  );
}

function Estimate({ collectionId }: { collectionId: string }) {
  const { t, code } = useLanguage();
  const path = { collection_id: collectionId };
  const query = { dry_run: true };
  const answer = useQuery({
    queryKey: ['embedding-estimate', collectionId],
    queryFn: () => filesApi.data('POST /v1/collections/{collection_id}/reembed', { path, query }),
    gcTime: 0,
  });
  if (answer.error !== null) return <Failure error={answer.error} onRetry={() => void answer.refetch()} />;
  if (answer.data === undefined) return <Loading />;
  const estimate = answer.data.embedding_estimate;
  if (estimate === undefined) return null;
  const { num_chunks, num_tokens, model, cost } = estimate;
  const tokens = formatNumber(num_tokens, code);
  return (
    <Text fw={600} mb="sm" data-estimate={num_chunks}>
      {t('vectors.estimate', { count: num_chunks, tokens, model })}{' '}
      {cost === null ? t('vectors.noPrice') : t('vectors.cost', { cost: formatCost(cost, code) })}
    </Text>
  );
}
