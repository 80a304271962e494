import { Button, Group, Stack, Text } from '@mantine/core';
import type { Collection, RecordItem } from '@quartermaster/contract';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { Empty } from '../../components/empty.tsx';
import { formatAge } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { InfiniteList } from '../../components/infinite-list.tsx';
import { RecordState } from '../../components/records/record-state.tsx';
import { nameOfRecord } from '../../components/records/record-words.ts';
import { useLanguage } from '../../language/language.tsx';
import { AddRecords } from './add-records.tsx';
import classes from './collections.module.css';
import { ImportArea } from './import-area.tsx';
import { ImportPanel } from './import-panel.tsx';

/** The records of a collection, refreshed while some are processed. */
export function RecordList({ collection }: { collection: Collection }) {
  const { t } = useLanguage();
  const [isAdding, setAdding] = useState(false);
  const path = { collection_id: collection.collection_id };
  const list = useInfiniteList({
    queryKey: ['records', collection.collection_id],
    load: (query, signal) => filesApi.json('GET /v1/collections/{collection_id}/records', { path, query, signal }),
    idOf: (record) => record.record_id,
    isMoving: ({ status }) => status === 'creating' || status === 'deleting',
  });
  return (
    <>
      <Stack gap="md" mb="md">
        <ImportArea collection={collection} />
        <ImportPanel collection={collection} />
      </Stack>
      <Group justify="flex-end" mb="md">
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          {t('records.add')}
        </Button>
      </Group>
      <InfiniteList
        list={list}
        label={t('records.list')}
        rowHeight={68}
        empty={
          <Empty icon="files" title={t('records.none')}>
            {t('records.noneAbout')}
          </Empty>
        }
      >
        {(record) => <RecordRow record={record} />}
      </InfiniteList>
      {isAdding ? <AddRecords collection={collection} onClose={() => setAdding(false)} /> : null}
    </>
  );
}

function RecordRow({ record }: { record: RecordItem }) {
  const { t, code, explain } = useLanguage();
  const { collection_id: collectionId, record_id: recordId } = record;
  return (
    <Link
      to="/collections/$collectionId/records/$recordId"
      params={{ collectionId, recordId }}
      className={classes.row}
      data-record={nameOfRecord(record)}
    >
      <span className={classes.words}>
        <span className={classes.name}>{nameOfRecord(record)}</span>
        <Text size="xs" c="dimmed" component="span" className={classes.cut}>
          {t(`records.type.${record.type}`)} · {t('records.chunks', { count: record.num_chunks })} ·{' '}
          {record.error === null ? formatAge(record.created_timestamp, code) : explain(record.error)}
        </Text>
      </span>
      <span className={classes.state}>
        <RecordState record={record} />
      </span>
    </Link>
  );
}
