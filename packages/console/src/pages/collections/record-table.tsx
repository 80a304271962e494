import { Button, Checkbox, Text } from '@mantine/core';
import type { RecordItem } from '@quartermaster/contract';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { useInfiniteList } from '../../api/infinite-list.ts';
import { useMay } from '../../app/project.tsx';
import { formatAge, formatBytes, formatTime } from '../../components/format.ts';
import { SelectAll, type Selection } from '../../components/lists/selection.tsx';
import { SortHead } from '../../components/lists/sort-head.tsx';
import { VirtualRows } from '../../components/lists/virtual-rows.tsx';
import { RecordState } from '../../components/records/record-state.tsx';
import { formatOf, nameOfRecord, pageCountOf, sizeOf } from '../../components/records/record-words.ts';
import { Thumbnail } from '../../components/records/thumbnail.tsx';
import { useRestore } from '../../components/records/use-restore.ts';
import { type LanguageCode, useLanguage } from '../../language/language.tsx';
import classes from './record-table.module.css';
import { tableWords } from './table-words.ts';

/** The columns that sort, with `-` for the descending order. The first is the order of the service. */
export const sorts = [
  ...(['-added', 'added', 'name', '-name', 'type', '-type'] as const),
  ...(['size', '-size', 'pages', '-pages', 'status', '-status'] as const),
] as const;
export type Sort = (typeof sorts)[number];

interface RecordTableProps {
  readonly list: ReturnType<typeof useInfiniteList<RecordItem>>;
  readonly selection: Selection;
  readonly sort: Sort;
  readonly onSort: (sort: string) => void;
}

/** The service sorts by date only, so the browser loads this many records to sort them by something else. */
const mostSorted = 1000;

/** The documents of a collection, sorted by a column. */
export function RecordTable({ list, selection, sort, onSort }: RecordTableProps) {
  const { t, code } = useLanguage();
  const words = tableWords[code];
  const mayChange = useMay('change');
  const isByDate = sort === 'added' || sort === '-added';
  const { items, hasNextPage, loadMore } = list;
  const loadsAll = !isByDate && hasNextPage && items.length < mostSorted;
  useEffect(() => {
    if (loadsAll) loadMore();
  }, [loadsAll, loadMore]);
  const heads = { sort, onSort };
  return (
    <>
      {!isByDate && hasNextPage && !loadsAll ? (
        <Text size="xs" c="dimmed" mb={4} role="status">
          {words.sortedSome.replace('{count}', String(items.length))}
        </Text>
      ) : null}
      <VirtualRows
        items={isByDate ? items : sortRecords(items, sort, code)}
        idOf={list.idOf}
        label={t('records.list')}
        rowHeight={28}
        onEnd={loadMore}
        head={
          <>
            {mayChange ? (
              <th className={classes.check}>
                <SelectAll size="xs" selection={selection} loaded={items.map(list.idOf)} />
              </th>
            ) : null}
            <td className={classes.picture} />
            <SortHead column="name" label={words.name} {...heads} />
            <SortHead column="type" label={words.type} className={classes.type} {...heads} />
            <SortHead column="size" label={words.size} isNumber className={classes.size} {...heads} />
            <SortHead column="pages" label={words.pages} isNumber className={classes.pages} {...heads} />
            <SortHead column="added" label={words.added} isNumber className={classes.added} {...heads} />
            <SortHead column="status" label={t('records.status')} className={classes.state} {...heads} />
          </>
        }
      >
        {(record) => <RecordRow key={record.record_id} record={record} selection={mayChange ? selection : undefined} />}
      </VirtualRows>
    </>
  );
}

/** How long the service keeps a deleted record. */
const restorableMs = 24 * 60 * 60_000;

type Cell = string | number;

const cells: Readonly<Record<string, (record: RecordItem) => Cell>> = {
  name: nameOfRecord,
  type: (record) => formatOf(record) || record.type,
  size: (record) => sizeOf(record) ?? -1,
  pages: (record) => pageCountOf(record) ?? -1,
  status: ({ status }) => status,
};

function sortRecords(items: readonly RecordItem[], sort: Sort, code: LanguageCode): readonly RecordItem[] {
  const isDown = sort.startsWith('-');
  const cell = cells[isDown ? sort.slice(1) : sort] ?? nameOfRecord;
  const { compare } = new Intl.Collator(code, { numeric: true });
  const order = (a: Cell, b: Cell) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : compare(String(a), String(b));
  return items.toSorted((a, b) => (isDown ? -1 : 1) * order(cell(a), cell(b)));
}

function RecordRow({ record, selection }: { record: RecordItem; selection: Selection | undefined }) {
  const { t, code, explain } = useLanguage();
  const { collection_id: collectionId, record_id: recordId } = record;
  const name = nameOfRecord(record);
  const size = sizeOf(record);
  const reason = record.error === null ? '' : explain(record.error);
  const words = tableWords[code];
  return (
    <tr className={classes.row} data-record={name}>
      {selection === undefined ? null : (
        <td className={classes.check}>
          <Checkbox
            size="xs"
            aria-label={t('selection.one', { name })}
            checked={selection.ids.has(recordId)}
            onChange={() => selection.toggle(recordId)}
          />
        </td>
      )}
      <td className={classes.picture}>
        <Thumbnail record={record} />
      </td>
      <td title={reason === '' ? name : `${name}: ${reason}`}>
        {record.status === 'deleting' ? (
          name
        ) : (
          <Link
            to="/collections/$collectionId/records/$recordId"
            params={{ collectionId, recordId }}
            className={classes.link}
          >
            {name}
          </Link>
        )}
        {record.status === 'deleting' ? (
          <span className={classes.reason} data-status="deleting">
            {words.removed} {formatAge(record.updated_timestamp + restorableMs, code)}
          </span>
        ) : null}
        {reason === '' ? null : <span className={classes.reason}>{reason}</span>}
      </td>
      <td className={classes.type}>{formatOf(record) || t(`records.type.${record.type}`)}</td>
      <td className={classes.size}>{size === undefined ? '' : formatBytes(size)}</td>
      <td className={classes.pages}>{pageCountOf(record)}</td>
      <td className={classes.added} title={formatTime(record.created_timestamp, code)}>
        {formatAge(record.created_timestamp, code)}
      </td>
      <td className={classes.state}>
        <span className={classes.status}>
          {record.status !== 'deleting' ? <RecordState record={record} /> : null}
          {record.status === 'deleting' && selection !== undefined ? <Restore record={record} /> : null}
        </span>
      </td>
    </tr>
  );
}

function Restore({ record }: { record: RecordItem }) {
  const words = tableWords[useLanguage().code];
  const { restore } = useRestore(record.collection_id);
  return (
    <Button
      size="compact-xs"
      variant="default"
      aria-label={`${words.restore}: ${nameOfRecord(record)}`}
      onClick={() => void restore([record.record_id])}
    >
      {words.restore}
    </Button>
  );
}
