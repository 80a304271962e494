import { Button, Group, Table, Tabs, Text } from '@mantine/core';
import type { RecordItem, RowStatus } from '@quartermaster/contract';
import type { ReactNode } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useDownload } from '../../api/downloads.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { usePageChoice } from '../../app/page-state.ts';
import { useMay } from '../../app/project.tsx';
import { Failure } from '../../components/failure.tsx';
import { Icon } from '../../components/icons.tsx';
import { ListCount } from '../../components/lists/list-count.tsx';
import { Loading } from '../../components/loading.tsx';
import { useCorrections } from '../../components/records/corrections.ts';
import { rowCounts } from '../../components/records/record-words.ts';
import { Section } from '../../components/section.tsx';
import { useLanguage } from '../../language/language.tsx';
import type { RecordPath } from './chunk-list.tsx';
import { CorrectedRows } from './corrected-rows.tsx';
import classes from './record.module.css';

/** The skipped rows of a sheet, with a CSV download. */
export function RowReport({ record }: { record: RecordItem }) {
  const { t } = useLanguage();
  const { collection_id, record_id, updated_timestamp: version } = record;
  const path = { collection_id, record_id };
  const rowsLeft = useCorrections([record]).get(record_id)?.rowsLeft;
  const mayCorrect = useMay('change') && record.status === 'partial' && rowsLeft !== 0;
  const [shown, show] = usePageChoice('rows', ['rejected', 'duplicate'], 'replace');
  const counts = rowCounts(record);
  if (counts.rejected + counts.duplicate === 0) return null;
  return (
    <Section id="rows" title={t('records.rows')} about={t('records.rowsAbout')}>
      <Tabs value={shown} onChange={show} keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="rejected">{`${t('records.rowsRejected')} (${counts.rejected})`}</Tabs.Tab>
          <Tabs.Tab value="duplicate">{`${t('records.rowsDuplicate')} (${counts.duplicate})`}</Tabs.Tab>
        </Tabs.List>
        {(['rejected', 'duplicate'] as const).map((status) => (
          <Tabs.Panel key={status} value={status}>
            <Rows path={path} status={status} version={version}>
              {mayCorrect && status === 'rejected' ? <CorrectedRows record={record} /> : null}
            </Rows>
          </Tabs.Panel>
        ))}
      </Tabs>
    </Section>
  );
}

const endpoint = 'GET /v1/collections/{collection_id}/records/{record_id}/rows';

interface RowsProps {
  readonly path: RecordPath;
  readonly status: RowStatus;
  readonly version: number;
  /** A further button. */
  readonly children: ReactNode;
}

function Rows({ path, status, version, children }: RowsProps) {
  const { t, explain } = useLanguage();
  const { busy, download } = useDownload();
  const list = useInfiniteList({
    // The rows change whenever the record is processed again.
    queryKey: ['rows', path, status, version],
    load: (page, signal) => filesApi.json(endpoint, { path, query: { ...page, status, order: 'asc' }, signal }),
    idOf: (row) => row.row_id,
  });
  const readCsv = () => filesApi.send(endpoint, { path, query: { status, format: 'csv' } });
  if (list.error !== null) return <Failure error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isPending) return <Loading rows={2} />;
  if (list.items.length === 0) return <Text size="sm">{t('records.rowsNone')}</Text>;
  return (
    <>
      <ListCount list={list} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section className={classes.rows} tabIndex={0} aria-label={t('records.rows')}>
        <Table>
          <Table.Tbody>
            {list.items.map((row) => (
              <Table.Tr key={row.row_id}>
                <Table.Td>
                  {row.sheet === null
                    ? t('records.row', { row: row.row })
                    : t('records.sheetRow', { sheet: row.sheet, row: row.row })}
                </Table.Td>
                <Table.Td>{explain(row)}</Table.Td>
                <Table.Td>
                  <code>{row.excerpt}</code>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
      <Group mt="sm">
        {list.hasNextPage ? (
          <Button variant="default" size="xs" onClick={list.loadMore}>
            {t('action.more')}
          </Button>
        ) : null}
        <Button
          size="xs"
          variant="default"
          loading={busy}
          onClick={() => void download(`${status}-rows.csv`, readCsv)}
          leftSection={<Icon name="download" size={14} />}
        >
          {t('records.rowsCsv')}
        </Button>
        {children}
      </Group>
    </>
  );
}
