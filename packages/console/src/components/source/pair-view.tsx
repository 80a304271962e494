import { Text } from '@mantine/core';
import type { Chunk, RecordItem } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { filesApi } from '../../api/addresses.ts';
import { useLanguage } from '../../language/language.tsx';
import { Failure } from '../failure.tsx';
import { Loading } from '../loading.tsx';
import { languageOfPassage } from '../passage-language.ts';
import classes from './source.module.css';

const around = 3;

/** The rows of a sheet around a pair. */
export function PairView({ record, chunk }: { record: RecordItem; chunk: Chunk | undefined }) {
  const { t } = useLanguage();
  const rows = usePairs(record, chunk);
  if (rows.error !== null) return <Failure error={rows.error} onRetry={() => void rows.refetch()} />;
  if (rows.data === undefined) return <Loading rows={3} />;
  return (
    <>
      <Text size="xs" c="dimmed" role="status">
        {t(chunk === undefined ? 'source.pairs' : 'source.pairMarked')}
      </Text>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section className={classes.scroll} tabIndex={0} aria-label={t('source.pairsLabel')}>
        <table className={classes.pairs}>
          <thead>
            <tr>
              <th scope="col">{t('source.rowHead')}</th>
              <th scope="col">{t('records.columnQuestion')}</th>
              <th scope="col">{t('records.columnAnswer')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.data.map((pair) => (
              <Pair key={pair.chunk_id} pair={pair} isChosen={pair.chunk_id === chunk?.chunk_id} />
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function Pair({ pair, isChosen }: { pair: Chunk; isChosen: boolean }) {
  const { sheet, row, cells = [] } = pair.locator ?? {};
  const show = (text: string) => (isChosen ? <mark data-mark="">{text}</mark> : text);
  return (
    <tr aria-current={isChosen || undefined}>
      <th scope="row">
        {row ?? '–'}
        {sheet === undefined ? null : <span className={classes.cell}>{sheet}</span>}
      </th>
      {[pair.question ?? pair.content, pair.answer ?? ''].map((text, at) => (
        <td key={cells[at] ?? (at === 0 ? 'question' : 'answer')} lang={languageOfPassage(text)}>
          {cells[at] === undefined ? null : <span className={classes.cell}>{cells[at]}</span>}
          {show(text)}
        </td>
      ))}
    </tr>
  );
}

/** Three pairs before and after the chosen one, otherwise the first ones. */
function usePairs({ collection_id, record_id, updated_timestamp: version }: RecordItem, chunk: Chunk | undefined) {
  const path = { collection_id, record_id };
  return useQuery({
    queryKey: ['pairs', path, version, chunk?.chunk_id],
    queryFn: async ({ signal }): Promise<readonly Chunk[]> => {
      const read = async (place: { before?: string; after?: string }, limit: number) => {
        const query = { order: 'asc' as const, limit, ...place };
        const endpoint = 'GET /v1/collections/{collection_id}/records/{record_id}/chunks';
        return (await filesApi.json(endpoint, { path, query, signal })).data;
      };
      if (chunk === undefined) return read({}, 2 * around + 1);
      const before = await read({ before: chunk.chunk_id }, around);
      return [...before, chunk, ...(await read({ after: chunk.chunk_id }, around))];
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}
