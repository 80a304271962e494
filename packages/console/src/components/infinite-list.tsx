import type { ReactNode } from 'react';
import type { useInfiniteList } from '../api/infinite-list.ts';
import { Failure } from './failure.tsx';
import { VirtualRows, type VirtualRowsProps } from './lists/virtual-rows.tsx';
import { Loading } from './loading.tsx';

export interface InfiniteListProps<T> extends Pick<VirtualRowsProps<T>, 'label' | 'rowHeight' | 'children'> {
  readonly list: ReturnType<typeof useInfiniteList<T>>;
  /** Shown when the list has no items. */
  readonly empty: ReactNode;
}

/** The error of a list, its placeholder rows, or its items. The last visible row loads the next page. */
export function InfiniteList<T>({ list, empty, ...rows }: InfiniteListProps<T>) {
  return (
    <>
      {list.error === null ? null : <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending ? <Loading /> : null}
      {list.isSuccess && list.items.length === 0 ? empty : null}
      {list.items.length === 0 ? null : (
        <VirtualRows items={list.items} idOf={list.idOf} onEnd={list.loadMore} {...rows} />
      )}
    </>
  );
}
