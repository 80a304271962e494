import type { RecordItem } from '@quartermaster/contract';
import { useQuery } from '@tanstack/react-query';
import { filesApi } from '../../api/addresses.ts';
import { toDataUrl } from '../data-url.ts';
import { Icon } from '../icons.tsx';
import { hasPages } from './record-words.ts';
import classes from './thumbnail.module.css';

/** The service draws each page in a process of its own, so one picture is read after the other. */
let last: Promise<unknown> = Promise.resolve();
function inTurn<T>(read: () => Promise<T>): Promise<T> {
  const turn = last.then(read, read);
  last = turn;
  return turn;
}

/** The first page of a PDF document or a picture. Other documents have an icon. */
export function Thumbnail({ record }: { record: RecordItem }) {
  const { collection_id, record_id, status, updated_timestamp: version } = record;
  const picture = useQuery({
    queryKey: ['thumbnail', record_id, version],
    queryFn: ({ signal }) =>
      inTurn(async () => {
        signal.throwIfAborted();
        const endpoint = 'GET /v1/collections/{collection_id}/records/{record_id}/pages/{page}/picture';
        const path = { collection_id, record_id, page: '1' };
        const answer = await filesApi.send(endpoint, { path, query: { width: 100 }, signal });
        return toDataUrl(await answer.blob());
      }),
    enabled: hasPages(record) && (status === 'ready' || status === 'partial'),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <span className={classes.thumbnail}>
      {picture.data === undefined ? (
        <Icon name={record.type === 'web' ? 'globe' : 'files'} size={16} />
      ) : (
        <img src={picture.data} alt="" />
      )}
    </span>
  );
}
