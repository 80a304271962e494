import { Button, Group, Tabs } from '@mantine/core';
import type { Collection } from '@quartermaster/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { ask } from '../../api/call.ts';
import { useLanguage } from '../../language/language.tsx';
import { Above } from '../../pieces/above.tsx';
import { Confirm } from '../../pieces/confirm.tsx';
import { CopyButton } from '../../pieces/copy-button.tsx';
import { Failure } from '../../pieces/failure.tsx';
import { Icon } from '../../pieces/icons.tsx';
import { Loading } from '../../pieces/loading.tsx';
import { PageHead } from '../../pieces/page-head.tsx';
import { useToasts } from '../../pieces/toasts.tsx';
import { AskBox } from './ask-box.tsx';
import { RecordList } from './record-list.tsx';

/** One collection: its records, and questions to it. */
export function CollectionPage() {
  const { t } = useLanguage();
  const { collectionId } = useParams({ strict: false }) as { collectionId: string }; // of this page's route
  const path = `/v1/collections/${collectionId}`;
  const collection = useQuery({ queryKey: [path], queryFn: () => ask<Collection>('GET', path) });
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
            <CopyButton
              text={item.collection_id}
              label={item.collection_id}
              what={`${t('action.copy')}: ${item.collection_id}`}
            />
          </Group>
        }
        actions={<DeleteCollection item={item} />}
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

function DeleteCollection({ item }: { item: Collection }) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isAsking, setAsking] = useState(false);
  const remove = async () => {
    await ask('DELETE', `/v1/collections/${item.collection_id}`);
    await queries.invalidateQueries({ queryKey: ['/v1/collections'] });
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
