import { Text } from '@mantine/core';
import { useLanguage } from '../../language/language.tsx';

export interface ListCountProps {
  readonly list: { readonly items: readonly unknown[]; readonly hasNextPage: boolean; readonly isSuccess: boolean };
}

/** The number of items of a list, which screen readers announce when a filter changes it. */
export function ListCount({ list }: ListCountProps) {
  const { t } = useLanguage();
  const { items, hasNextPage, isSuccess } = list;
  return (
    <Text size="sm" c="dimmed" mb="xs" role="status">
      {isSuccess ? t('selection.count', { count: hasNextPage ? `${items.length}+` : items.length }) : ''}
    </Text>
  );
}
