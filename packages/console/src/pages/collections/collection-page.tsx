import { Badge, Button, Group, Tabs } from '@mantine/core';
import type { Collection } from '@quartermaster/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useLanguage } from '../../language/language.tsx';
import { Above } from '../../pieces/above.tsx';
import { Confirm } from '../../pieces/confirm.tsx';
import { CopyButton } from '../../pieces/copy-button.tsx';
import { Failure } from '../../pieces/failure.tsx';
import { Icon } from '../../pieces/icons.tsx';
import { Loading } from '../../pieces/loading.tsx';
import { PageHead } from '../../pieces/page-head.tsx';
import { useToasts } from '../../pieces/toasts.tsx';
import { tones } from '../../pieces/tones.ts';
import { AskBox } from './ask-box.tsx';
import { RecordList } from './record-list.tsx';

const keyOf = (collectionId: string) => ['collection', collectionId];

/** One collection: its records, and questions to it. */
export function CollectionPage() {
  const { t } = useLanguage();
  const { collectionId } = useParams({ strict: false }) as { collectionId: string }; // of this page's route
  const collection = useQuery({
    queryKey: keyOf(collectionId),
    queryFn: () => filesApi.data('GET /v1/collections/{collection_id}', { path: { collection_id: collectionId } }),
    refetchInterval: ({ state }) => (state.data?.vectors === 'catching_up' ? 2000 : false),
  });
  if (collection.error !== null) {
    return <Failure error={collection.error} onRetry={() => void collection.refetch()} />;
  }
  if (collection.data === undefined) return <Loading />;
  const item = collection.data;
  return (
    <>
      <PageHead
        above={<Above to="/collections">{t('collections.title')}</Above>}
        title={item.name === '' ? t('collections.unnamed') : item.name}
        about={
          <Group gap="xs">
            {t(`collections.type.${item.type}`)}
            {item.description === '' ? '' : ` · ${item.description}`}
            {item.vectors === 'off' ? null : (
              <Badge size="sm" color={colors[item.vectors]} data-vectors={item.vectors}>
                {t(`vectors.${item.vectors}`)}
              </Badge>
            )}
            <CopyButton
              text={item.collection_id}
              label={item.collection_id}
              what={`${t('action.copy')}: ${item.collection_id}`}
            />
          </Group>
        }
        actions={
          <>
            {item.vectors === 'off' ? null : <EmbedAnew item={item} />}
            <DeleteCollection item={item} />
          </>
        }
      />
      <Tabs defaultValue="records" keepMounted={false}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="records">{t('collections.tab.records')}</Tabs.Tab>
          <Tabs.Tab value="ask">{t('collections.tab.ask')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="records">
          <RecordList collection={item} />
        </Tabs.Panel>
        <Tabs.Panel value="ask">
          <AskBox collection={item} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

const colors = { current: tones.good, catching_up: tones.going, other_model: tones.caution } as const;

/** Vectors of another model rest until all are made anew. */
function EmbedAnew({ item }: { item: Collection }) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const embed = async () => {
    const path = { collection_id: item.collection_id };
    const changed = await filesApi.data('POST /v1/collections/{collection_id}/reembed', { path });
    queries.setQueryData(keyOf(item.collection_id), changed);
    say(t('vectors.begun'));
  };
  return (
    <>
      <Button variant="default" leftSection={<Icon name="refresh" size={16} />} onClick={() => setAsking(true)}>
        {t('vectors.anew')}
      </Button>
      {isAsking ? (
        <Confirm
          title={t('vectors.anewTitle', { name: item.name })}
          action={t('vectors.anew')}
          onConfirm={embed}
          onClose={() => setAsking(false)}
        >
          {t('vectors.anewAbout')}
        </Confirm>
      ) : null}
    </>
  );
}

function DeleteCollection({ item }: { item: Collection }) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const remove = async () => {
    await filesApi.json('DELETE /v1/collections/{collection_id}', { path: { collection_id: item.collection_id } });
    await queries.invalidateQueries({ queryKey: ['collections'] });
    say(t('collections.deleted', { name: item.name }));
    await navigate({ to: '/collections' });
  };
  return (
    <>
      <Button variant="light" color="red" leftSection={<Icon name="trash" size={16} />} onClick={() => setAsking(true)}>
        {t('action.delete')}
      </Button>
      {isAsking ? (
        <Confirm
          title={t('collections.deleteTitle', { name: item.name })}
          action={t('action.delete')}
          onConfirm={remove}
          onClose={() => setAsking(false)}
        >
          {t('collections.deleteAbout')}
        </Confirm>
      ) : null}
    </>
  );
}
