import { Button, Group, NativeSelect } from '@mantine/core';
import { type Collection, purposeNames, purposes, type RecordItem } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useDeferredValue, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { usePageChoice, usePageText } from '../../app/page-state.ts';
import { useMay } from '../../app/project.tsx';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { ConfirmButton } from '../../components/forms/confirm-button.tsx';
import { Icon } from '../../components/icons.tsx';
import { Filters } from '../../components/lists/filters.tsx';
import { type Selection, SelectionCount, useForEach, useSelection } from '../../components/lists/selection.tsx';
import { Loading } from '../../components/loading.tsx';
import { needsPassword } from '../../components/records/password-form.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { AddRecords } from './add-records.tsx';
import classes from './collections.module.css';
import { ImportArea } from './import-area.tsx';
import { ImportPanel } from './import-panel.tsx';
import { RecordTable, sorts } from './record-table.tsx';
import { tableWords } from './table-words.ts';

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
              <Button variant="default" onClick={choose.files}>
                {words.upload}
              </Button>
              <Button variant="default" onClick={choose.folder} visibleFrom="sm">
                {words.uploadFolder}
              </Button>
              <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
                {t('records.add')}
              </Button>
            </Group>
          </RecordTools>
        )}
      />
      {isAdding ? <AddRecords collection={collection} onClose={() => setAdding(false)} /> : null}
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
            <BulkActions collectionId={collectionId} selection={selection} records={list.items} />
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

const restorable = { restorable: true } as const;

/** Restores the chosen records. */
function RestoreMany({ collectionId, selection }: Omit<BulkActionsProps, 'records'>) {
  const words = tableWords[useLanguage().code];
  const { say, showError } = useToasts();
  const queries = useQueryClient();
  const forEach = useForEach();
  const restore = async () => {
    const endpoint = 'POST /v1/collections/{collection_id}/records/{record_id}/restore';
    const failed = await forEach(selection.ids, (id) =>
      filesApi.json(endpoint, { path: { collection_id: collectionId, record_id: id } }),
    );
    await queries.invalidateQueries({ queryKey: ['records', collectionId] });
    say(words.restored.replace('{count}', String(selection.ids.size - failed.length)));
    selection.choose(failed);
  };
  return (
    <Button
      variant="default"
      size="xs"
      leftSection={<Icon name="refresh" size={16} />}
      onClick={() => void restore().catch(showError)}
    >
      {words.restore}
    </Button>
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
      filesApi.json('DELETE /v1/collections/{collection_id}/records/{record_id}', { ...path(id), query: restorable }),
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
