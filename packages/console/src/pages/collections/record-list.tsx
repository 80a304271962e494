import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import type { Collection, RecordItem } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useDeferredValue, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { usePageChoice, usePageText } from '../../app/page-state.ts';
import { useMay } from '../../app/project.tsx';
import { Empty } from '../../components/empty.tsx';
import { formatAge } from '../../components/format.ts';
import { ConfirmButton } from '../../components/forms/confirm-button.tsx';
import { Icon } from '../../components/icons.tsx';
import { InfiniteList } from '../../components/infinite-list.tsx';
import { Filters } from '../../components/lists/filters.tsx';
import {
  SelectableRow,
  type Selection,
  SelectionBar,
  useForEach,
  useSelection,
} from '../../components/lists/selection.tsx';
import { needsPassword } from '../../components/records/password-form.tsx';
import { RecordState } from '../../components/records/record-state.tsx';
import { nameOfRecord } from '../../components/records/record-words.ts';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { AddRecords } from './add-records.tsx';
import classes from './collections.module.css';
import { ImportArea } from './import-area.tsx';
import { ImportPanel } from './import-panel.tsx';

const statuses = ['', 'creating', 'ready', 'partial', 'error'] as const;

/** The records of a collection, refreshed while some are processed. */
export function RecordList({ collection }: { collection: Collection }) {
  const { t } = useLanguage();
  const [isAdding, setAdding] = useState(false);
  if (!useMay('change')) return <FilteredRecords collectionId={collection.collection_id} />;
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
      <FilteredRecords collectionId={collection.collection_id} />
      {isAdding ? <AddRecords collection={collection} onClose={() => setAdding(false)} /> : null}
    </>
  );
}

function FilteredRecords({ collectionId }: { collectionId: string }) {
  const { t } = useLanguage();
  const [text, setText] = usePageText('name');
  const [status, setStatus] = usePageChoice('status', statuses, 'replace');
  const name = useDeferredValue(text.trim());
  const selection = useSelection(`${status} ${name}`);
  const filter = { name: name || undefined, status: status || undefined };
  const isFiltered = name !== '' || status !== '';
  const path = { collection_id: collectionId };
  const list = useInfiniteList({
    queryKey: ['records', collectionId, filter],
    load: (page, signal) =>
      filesApi.json('GET /v1/collections/{collection_id}/records', { path, query: { ...page, ...filter }, signal }),
    idOf: (record) => record.record_id,
    isMoving: (record) => record.status === 'creating' || record.status === 'deleting',
  });
  return (
    <>
      <Filters name={text} onName={setText}>
        <NativeSelect
          aria-label={t('records.status')}
          value={status}
          onChange={(event) => setStatus(event.currentTarget.value)}
          data={statuses.map((value) => ({
            value,
            label: value === '' ? t('records.allStatuses') : t(`records.status.${value}`),
          }))}
        />
      </Filters>
      <SelectionBar selection={selection} list={list} loaded={list.items.map(list.idOf)}>
        <BulkActions collectionId={collectionId} selection={selection} records={list.items} />
      </SelectionBar>
      <InfiniteList
        list={list}
        label={t('records.list')}
        rowHeight={68}
        empty={
          <Empty icon={isFiltered ? 'search' : 'files'} title={t(isFiltered ? 'records.noneFound' : 'records.none')}>
            {isFiltered ? '' : t('records.noneAbout')}
          </Empty>
        }
      >
        {(record) => (
          <SelectableRow selection={selection} id={record.record_id} name={nameOfRecord(record)}>
            <RecordRow record={record} />
          </SelectableRow>
        )}
      </InfiniteList>
    </>
  );
}

interface BulkActionsProps {
  readonly collectionId: string;
  readonly selection: Selection;
  readonly records: readonly RecordItem[];
}

/** Deletes the chosen records, or processes them again. Those that fail or are left out stay chosen. */
function BulkActions({ collectionId, selection, records }: BulkActionsProps) {
  const { t } = useLanguage();
  const { say, showError } = useToasts();
  const queries = useQueryClient();
  const forEach = useForEach();
  const count = selection.ids.size;
  const path = (id: string) => ({ path: { collection_id: collectionId, record_id: id } });
  const act = async (
    done: 'records.deletedMany' | 'records.retriedMany',
    call: (id: string) => Promise<unknown>,
    leftOut: ReadonlySet<string> = new Set(),
  ) => {
    const ids = [...selection.ids].filter((id) => !leftOut.has(id));
    const failed = await forEach(ids, call);
    await queries.invalidateQueries({ queryKey: ['records', collectionId] });
    if (ids.length > failed.length) say(t(done, { count: ids.length - failed.length }));
    if (leftOut.size > 0) say(t('records.passwordMany', { count: leftOut.size }));
    selection.choose([...failed, ...leftOut]);
  };
  const retry = () => {
    // Without a password, processing would fail again.
    const locked = records.filter((record) => selection.ids.has(record.record_id) && needsPassword(record.error));
    return act(
      'records.retriedMany',
      (id) => filesApi.json('POST /v1/collections/{collection_id}/records/{record_id}/retry', path(id)),
      new Set(locked.map((record) => record.record_id)),
    );
  };
  const remove = () =>
    act('records.deletedMany', (id) =>
      filesApi.json('DELETE /v1/collections/{collection_id}/records/{record_id}', path(id)),
    );
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<Icon name="refresh" size={16} />}
        onClick={() => void retry().catch(showError)}
      >
        {t('records.retry')}
      </Button>
      <ConfirmButton
        icon="trash"
        look={{ variant: 'light', color: 'red', size: 'xs' }}
        title={t('records.deleteMany', { count })}
        action={t('action.delete')}
        onConfirm={remove}
      >
        {t('records.deleteManyAbout')}
      </ConfirmButton>
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
