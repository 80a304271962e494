import { Tabs, Text } from '@mantine/core';
import type { Collection, RecordItem } from '@quartermaster/contract';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { filesApi } from '../../api/addresses.ts';
import { useFoundCollections } from '../../api/collections.ts';
import { usePageChoice } from '../../app/page-state.ts';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatAge } from '../../components/format.ts';
import { Loading } from '../../components/loading.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { useCorrections } from '../../components/records/corrections.ts';
import { RecordState } from '../../components/records/record-state.tsx';
import { nameOfRecord } from '../../components/records/record-words.ts';
import { useLanguage } from '../../language/language.tsx';
import { jobWords } from './job-words.ts';
import classes from './jobs.module.css';

const statuses = ['creating', 'error', 'partial'] as const;
/** The newest collections, each of which costs one request. */
const mostCollections = 50;
const mostOfEach = 20;

/** The documents of all collections that are being processed, or have failed. */
export function Jobs() {
  const words = jobWords[useLanguage().code];
  const [status, choose] = usePageChoice('status', statuses, 'push');
  return (
    <>
      <PageHead title={words.title} part={words[status]} about={words.about} />
      <Tabs value={status} onChange={choose} keepMounted={false}>
        <Tabs.List mb="md">
          {statuses.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {words[one]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={status}>
          <JobList status={status} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function JobList({ status }: { status: (typeof statuses)[number] }) {
  const { code } = useLanguage();
  const words = jobWords[code];
  const collections = useFoundCollections('');
  const shown = (collections.data ?? []).filter(({ num_records: records }) => records > 0).slice(0, mostCollections);
  const lists = useQueries({
    queries: shown.map(({ collection_id }) => ({
      queryKey: ['records', collection_id, 'jobs', status],
      queryFn: () =>
        filesApi.json('GET /v1/collections/{collection_id}/records', {
          path: { collection_id },
          query: { status, limit: mostOfEach },
        }),
      // Those without a job are read less often.
      refetchInterval: ({ state }: { state: { data?: { data: readonly unknown[] } | undefined } }) =>
        (state.data?.data.length ?? 0) > 0 ? 3000 : 15_000,
    })),
  });
  const corrections = useCorrections(lists.flatMap(({ data }) => data?.data ?? []));
  const failure = collections.error ?? lists.find(({ error }) => error !== null)?.error ?? null;
  if (failure !== null) return <Failure error={failure} onRetry={() => void collections.refetch()} />;
  if (collections.data === undefined || lists.some(({ isPending }) => isPending)) return <Loading />;
  const rows = shown.flatMap((collection, index) =>
    (lists[index]?.data?.data ?? [])
      .filter(({ record_id: id }) => corrections.get(id)?.rowsLeft !== 0)
      .map((record) => ({ collection, record })),
  );
  const full = shown.filter((_, index) => lists[index]?.data?.has_more === true);
  return (
    <>
      {rows.length === 0 ? (
        <Empty icon="check" title={words.none}>
          {words.noneAbout} <Link to="/collections">{words.toCollections}</Link>
        </Empty>
      ) : (
        <ul className={classes.list} aria-label={words[status]}>
          {rows.map((row) => (
            <JobRow key={row.record.record_id} {...row} />
          ))}
        </ul>
      )}
      {full.map(({ collection_id: collectionId, name }) => (
        <Text key={collectionId} size="sm" mt="xs">
          <Link to="/collections/$collectionId" params={{ collectionId }} search={{ status }}>
            {words.more}: {name}
          </Link>
        </Text>
      ))}
      {collections.data.length > mostCollections ? (
        <Text size="xs" c="dimmed" mt="xs">
          {words.some.replace('{count}', String(mostCollections))}
        </Text>
      ) : null}
    </>
  );
}

function JobRow({ collection, record }: { collection: Collection; record: RecordItem }) {
  const { t, code, explain } = useLanguage();
  const { collection_id: collectionId, record_id: recordId } = record;
  const name = collection.name === '' ? t('collections.unnamed') : collection.name;
  return (
    <li data-record={nameOfRecord(record)}>
      <div className={classes.words}>
        <Link to="/collections/$collectionId/records/$recordId" params={{ collectionId, recordId }}>
          {nameOfRecord(record)}
        </Link>
        <Text size="xs" c="dimmed" component="span">
          <Link to="/collections/$collectionId" params={{ collectionId }} className={classes.collection}>
            {name}
          </Link>{' '}
          · {record.error === null ? formatAge(record.updated_timestamp, code) : explain(record.error)}
        </Text>
      </div>
      <div className={classes.state}>
        <RecordState record={record} />
      </div>
    </li>
  );
}
