import { useInfiniteQuery } from '@tanstack/react-query';
import { askPage, type Call } from './call.ts';

export interface ListWish<T> {
  readonly path: string;
  readonly query?: Call['query'];
  readonly idOf: (item: T) => string;
  /** While one of the items is, the list is looked at again every second. */
  readonly isMoving?: (item: T) => boolean;
  /** Milliseconds between looks, for lists that others add to. */
  readonly lookEvery?: number;
  readonly enabled?: boolean;
}

const pageSize = 100;
const lookMs = 1000;

/** A list of any length: pages of a hundred, the next one when the end comes into sight. */
export function useEndlessList<T>(wish: ListWish<T>) {
  const list = useInfiniteQuery({
    queryKey: [wish.path, wish.query ?? {}],
    queryFn: ({ pageParam, signal }) =>
      askPage<T>(wish.path, { query: { limit: pageSize, ...wish.query, after: pageParam }, signal }),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (last) => {
      const end = last.data.at(-1);
      return last.has_more && end !== undefined ? wish.idOf(end) : undefined;
    },
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some((item) => wish.isMoving?.(item) === true)) === true
        ? lookMs
        : (wish.lookEvery ?? false),
    enabled: wish.enabled ?? true,
  });
  const items = list.data?.pages.flatMap((page) => page.data) ?? [];
  const loadMore = () => {
    if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
  };
  return { ...list, items, loadMore };
}
