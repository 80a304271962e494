import { Button } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';
import type { useInfiniteList } from '../../api/infinite-list.ts';
import { useLanguage } from '../../language/language.tsx';
import { CardList } from '../card-list.tsx';
import { Failure } from '../failure.tsx';
import { Loading } from '../loading.tsx';

export interface LoadedCardsProps<T> {
  readonly list: ReturnType<typeof useInfiniteList<T>>;
  /** Shown when the list has no items. */
  readonly empty?: ReactNode;
  readonly children: (item: T) => ReactNode;
}

/** The error of a list, its placeholder rows, or its cards with a button that loads the next page. */
export function LoadedCards<T>({ list, empty, children }: LoadedCardsProps<T>) {
  const { t } = useLanguage();
  return (
    <>
      {list.error === null ? null : <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending ? <Loading rows={2} /> : null}
      {list.isSuccess && list.items.length === 0 ? empty : null}
      <CardList>
        {list.items.map((item) => (
          <Fragment key={list.idOf(item)}>{children(item)}</Fragment>
        ))}
      </CardList>
      {list.hasNextPage ? (
        <Button variant="default" mt="sm" onClick={list.loadMore}>
          {t('action.more')}
        </Button>
      ) : null}
    </>
  );
}
