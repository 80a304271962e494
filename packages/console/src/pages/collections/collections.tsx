import { Badge, Button, Text } from '@mantine/core';
import type { Collection } from '@quartermaster/contract';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatAge, formatNumber } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { VirtualList } from '../../components/virtual-list.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './collections.module.css';
import { NewCollection } from './new-collection.tsx';

/** The collections of the project. */
export function Collections() {
  const { t } = useLanguage();
  const [isCreating, setCreating] = useState(false);
  const list = useInfiniteList({
    queryKey: ['collections'],
    load: (query, signal) => filesApi.json('GET /v1/collections', { query, signal }),
    idOf: (item) => item.collection_id,
  });
  return (
    <>
      <PageHead
        title={t('collections.title')}
        about={t('collections.about')}
        actions={
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
            {t('collections.new')}
          </Button>
        }
      />
      {list.error === null ? null : <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending ? <Loading /> : null}
      {list.isSuccess && list.items.length === 0 ? (
        <Empty icon="collections" title={t('collections.none')}>
          {t('collections.noneAbout')}
        </Empty>
      ) : null}
      {list.items.length === 0 ? null : (
        <VirtualList
          items={list.items}
          idOf={(item) => item.collection_id}
          label={t('collections.title')}
          rowHeight={72}
          onEnd={list.loadMore}
        >
          {(item) => <CollectionRow item={item} />}
        </VirtualList>
      )}
      {isCreating ? <NewCollection onClose={() => setCreating(false)} /> : null}
    </>
  );
}

function CollectionRow({ item }: { item: Collection }) {
  const { t, code } = useLanguage();
  const counts = {
    records: formatNumber(item.num_records, code),
    chunks: formatNumber(item.num_chunks, code),
  };
  return (
    <Link to="/collections/$collectionId" params={{ collectionId: item.collection_id }} className={classes.row}>
      <Badge variant="light" className={classes.kind}>
        {t(`collections.kind.${item.type}`)}
      </Badge>
      <span className={classes.words}>
        <span className={classes.name}>{item.name === '' ? t('collections.unnamed') : item.name}</span>
        <Text size="xs" c="dimmed" component="span" className={classes.cut}>
          {t('collections.counts', counts)} · {formatAge(item.created_timestamp, code)}
          {item.description === '' ? '' : ` · ${item.description}`}
        </Text>
      </span>
      <Icon name="next" size={16} />
    </Link>
  );
}
