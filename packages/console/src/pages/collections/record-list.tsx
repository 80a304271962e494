import { Button, Group, NativeSelect } from '@mantine/core';
import { type Collection, purposeNames, purposes } from '@quartermaster/contract';
import { lazy, type ReactNode, Suspense, useDeferredValue, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { usePageChoice, usePageText } from '../../app/page-state.ts';
import { useMay } from '../../app/project.tsx';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { Icon } from '../../components/icons.tsx';
import { Filters } from '../../components/lists/filters.tsx';
import { SelectionCount, useSelection } from '../../components/lists/selection.tsx';
import { Loading } from '../../components/loading.tsx';
import { useRestore } from '../../components/records/use-restore.ts';
import { useLanguage } from '../../language/language.tsx';
import type { BulkActionsProps } from './bulk-actions.tsx';
import classes from './collections.module.css';
import { ImportArea } from './import-area.tsx';
import { ImportPanel } from './import-panel.tsx';
import { RecordTable, sorts } from './record-table.tsx';
import { tableWords } from './table-words.ts';

const AddRecords = lazy(() => import('./add-records.tsx').then((module) => ({ default: module.AddRecords })));
/** Loads when documents are chosen. */
const BulkActions = lazy(() => import('./bulk-actions.tsx').then((module) => ({ default: module.BulkActions })));

const statuses = ['', 'creating', 'ready', 'partial', 'error', 'deleting'] as const;

/** What a list of records can be restricted to: extensions of files, texts and web pages. */
function typesOf({ type }: Collection): readonly ['', ...string[]] {
  const fitting = purposeNames.filter((name) => purposes[name].collectionType === type);
  const extensions = new Set(fitting.flatMap((name) => purposes[name].extensions));
  return ['', ...[...extensions].sort(), ...(type === 'text' ? ['text', 'web'] : [])];
}

/** The records of a collection, refreshed while some are processed. */
export function RecordList({ collection }: { collection: Collection }) {
  const { t, code } = useLanguage();
  const words = tableWords[code];
  const [isAdding, setAdding] = useState(false);
  const records = useRecords(collection);
  if (!useMay('change')) return <RecordTools records={records} />;
  return (
    <>
      <ImportPanel collection={collection} />
      <ImportArea
        collection={collection}
        around={(choose, formats) => (
          <RecordTools records={records} formats={formats}>
            <Group gap="xs" ml="auto" mb="sm">
              <Button variant="default" px="xs" onClick={choose.files}>
                {words.upload}
              </Button>
              <Button variant="default" px="xs" onClick={choose.folder} visibleFrom="sm">
                {words.uploadFolder}
              </Button>
              <Button px="xs" leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
                {t('records.add')}
              </Button>
            </Group>
          </RecordTools>
        )}
      />
      <Suspense>{isAdding ? <AddRecords collection={collection} onClose={() => setAdding(false)} /> : null}</Suspense>
    </>
  );
}

function useRecords(collection: Collection) {
  const { collection_id: collectionId } = collection;
  const types = typesOf(collection);
  const [text, setText] = usePageText('name');
  const [status, setStatus] = usePageChoice('status', statuses, 'replace');
  const [type, setType] = usePageChoice('type', types, 'replace');
  const [sort, setSort] = usePageChoice('sort', sorts, 'replace');
  const name = useDeferredValue(text.trim());
  const selection = useSelection(`${status} ${type} ${name}`);
  const filter = { name: name || undefined, status: status || undefined, type: type || undefined };
  const order = sort === 'added' ? ('asc' as const) : undefined;
  const path = { collection_id: collectionId };
  const list = useInfiniteList({
    queryKey: ['records', collectionId, filter, order],
    load: (page, signal) =>
      filesApi.json('GET /v1/collections/{collection_id}/records', {
        path,
        query: { ...page, ...filter, order },
        signal,
      }),
    idOf: (record) => record.record_id,
    isMoving: (record) => record.status === 'creating',
  });
  const isFiltered = name !== '' || status !== '' || type !== '';
  const filters = { text, setText, status, setStatus, types, type, setType };
  return { collectionId, list, selection, isFiltered, ...filters, sort, setSort };
}

interface RecordToolsProps {
  readonly records: ReturnType<typeof useRecords>;
  /** The formats that may be added; absent for those who may add none. */
  readonly formats?: string;
  /** Buttons at the end of the line of filters. */
  readonly children?: ReactNode;
}

/** The filters of the records, the actions on those that are chosen, and the table. */
function RecordTools({ records, formats, children }: RecordToolsProps) {
  const { t } = useLanguage();
  const { collectionId, list, selection, isFiltered, sort } = records;
  const chosen = list.items.some(({ record_id: id }) => selection.ids.has(id));
  const isEmpty = list.isSuccess && list.items.length === 0;
  return (
    <>
      <div className={classes.tools}>
        {isEmpty && !isFiltered ? null : <RecordFilters records={records} />}
        {children}
      </div>
      {chosen ? (
        <Group gap="xs" mb="xs">
          {records.status === 'deleting' ? (
            <RestoreMany collectionId={collectionId} selection={selection} />
          ) : (
            <Suspense>
              <BulkActions collectionId={collectionId} selection={selection} records={list.items} />
            </Suspense>
          )}
        </Group>
      ) : null}
      {list.error === null ? null : <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending ? <Loading /> : null}
      {isEmpty && isFiltered ? <Empty icon="search" title={t('records.noneFound')} /> : null}
      {isEmpty && !isFiltered ? (
        <Empty icon="upload" title={t('records.none')}>
          {formats === undefined ? null : (
            <>
              {t('records.noneAbout')}
              <br />
              {formats}
            </>
          )}
        </Empty>
      ) : null}
      {list.items.length === 0 ? null : (
        <RecordTable list={list} selection={selection} sort={sort} onSort={records.setSort} />
      )}
    </>
  );
}

function RecordFilters({ records }: Pick<RecordToolsProps, 'records'>) {
  const { t, code } = useLanguage();
  const { list, selection } = records;
  const labelOf = (value: (typeof statuses)[number]) =>
    value === 'deleting'
      ? tableWords[code].deleted
      : t(value === '' ? 'records.allStatuses' : `records.status.${value}`);
  const nameOfType = (type: string) => {
    if (type === '') return tableWords[code].allTypes;
    return type === 'text' || type === 'web' ? t(`records.type.${type}`) : type.toUpperCase();
  };
  return (
    <Filters name={records.text} onName={records.setText}>
      <NativeSelect
        aria-label={tableWords[code].type}
        w={112}
        value={records.type}
        onChange={(event) => records.setType(event.currentTarget.value)}
        data={records.types.map((value) => ({ value, label: nameOfType(value) }))}
      />
      <NativeSelect
        aria-label={t('records.status')}
        value={records.status}
        onChange={(event) => records.setStatus(event.currentTarget.value)}
        data={statuses.map((value) => ({ value, label: labelOf(value) }))}
      />
      <div className={classes.count}>
        <SelectionCount selection={selection} list={list} loaded={list.items.map(list.idOf)} />
      </div>
    </Filters>
  );
}

/** Restores the chosen records. */
function RestoreMany({ collectionId, selection }: Omit<BulkActionsProps, 'records'>) {
  const words = tableWords[useLanguage().code];
  const { restore } = useRestore(collectionId);
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<Icon name="refresh" size={16} />}
      onClick={() => void restore(selection.ids).then(selection.choose)}
    >
      {words.restoreMany.replace('{count}', String(selection.ids.size))}
    </Button>
  );
}
