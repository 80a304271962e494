import { Badge, Button, Group, Text } from '@mantine/core';
import type { Collection } from '@quartermaster/contract';
import { Link } from '@tanstack/react-router';
import { useDeferredValue, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { usePageText } from '../../app/page-state.ts';
import { useMay } from '../../app/project.tsx';
import { Empty } from '../../components/empty.tsx';
import { formatAge, formatNumber } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { InfiniteList } from '../../components/infinite-list.tsx';
import { Filters } from '../../components/lists/filters.tsx';
import { ListCount } from '../../components/lists/list-count.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './collections.module.css';
import { ExampleButton } from './example-button.tsx';
import { NewCollection } from './new-collection.tsx';

/** The collections of the project. */
export function Collections() {
  const { t } = useLanguage();
  const mayChange = useMay('change');
  const [isCreating, setCreating] = useState(false);
  const [text, setText] = usePageText('name');
  const name = useDeferredValue(text.trim());
  const filter = { name: name || undefined };
  const list = useInfiniteList({
    queryKey: ['collections', 'list', filter],
    load: (page, signal) => filesApi.json('GET /v1/collections', { query: { ...page, ...filter }, signal }),
    idOf: (item) => item.collection_id,
  });
  return (
    <>
      <PageHead
        title={t('collections.title')}
        about={t('collections.about')}
        actions={
          mayChange ? (
            <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
              {t('collections.new')}
            </Button>
          ) : undefined
        }
      />
      <Filters name={text} onName={setText} />
      <ListCount list={list} />
      <InfiniteList
        list={list}
        label={t('collections.title')}
        rowHeight={72}
        empty={
          <Empty
            icon={name === '' ? 'collections' : 'search'}
            title={t(name === '' ? 'collections.none' : 'collections.noneFound')}
          >
            {name === '' ? t('collections.noneAbout') : ''}
            {name === '' && mayChange ? (
              <Group justify="center" gap="xs" mt="md">
                <ExampleButton />
              </Group>
            ) : null}
          </Empty>
        }
      >
        {(item) => <CollectionRow item={item} />}
      </InfiniteList>
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
