import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';

/** Which page of a list to read. */
export interface PageQuery {
  readonly limit: number;
  readonly after: string | undefined;
  /** Whether the service counts the items of all pages. */
  readonly count: true | undefined;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly total_count?: number | null;
  readonly total_count_is_exact?: boolean;
}

export interface ListOptions<T> {
  readonly queryKey: QueryKey;
  readonly load: (page: PageQuery, signal: AbortSignal) => Promise<Page<T>>;
  readonly idOf: (item: T) => string;
  /** While one of the items is changing, the list is read again every second. */
  readonly isMoving?: (item: T) => boolean;
  /** Milliseconds between readings, for lists that others add to. */
  readonly refreshMs?: number;
  readonly enabled?: boolean;
}

const pageSize = 100;
const movingMs = 1000;

/** A list of any length: pages of a hundred, the next one when the end comes into sight. */
export function useInfiniteList<T>({ queryKey, load, idOf, isMoving, refreshMs, enabled = true }: ListOptions<T>) {
  const list = useInfiniteQuery({
    queryKey,
    // The first page has the number of all items.
    queryFn: ({ pageParam, signal }) =>
      load({ limit: pageSize, after: pageParam, count: pageParam === undefined || undefined }, signal),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (last) => {
      const end = last.data.at(-1);
      return last.has_more && end !== undefined ? idOf(end) : undefined;
    },
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some((item) => isMoving?.(item) === true)) === true
        ? movingMs
        : (refreshMs ?? false),
    enabled,
  });
  const items = list.data?.pages.flatMap((page) => page.data) ?? [];
  const loadMore = () => {
    if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
  };
  const total = list.hasNextPage ? totalOf(list.data?.pages[0], items.length) : { count: items.length, isExact: true };
  return { ...list, items, idOf, loadMore, total };
}

/** The number of items of a list with further pages. If it is not exact, the list has at least this many. */
function totalOf(first: Page<unknown> | undefined, loaded: number) {
  return { count: Math.max(first?.total_count ?? 0, loaded), isExact: first?.total_count_is_exact ?? false };
}
