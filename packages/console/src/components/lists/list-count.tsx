import { Text } from '@mantine/core';
import { useLanguage } from '../../language/language.tsx';
import { formatNumber } from '../format.ts';

export interface CountedList {
  readonly isSuccess: boolean;
  readonly total: { readonly count: number; readonly isExact: boolean };
}

export interface ListCountProps {
  readonly list: CountedList;
  /** Whether screen readers announce a change. Default: true; false for lists that change by themselves. */
  readonly isAnnounced?: boolean;
}

/** The number of items of a list, which screen readers announce when a filter changes it. */
export function ListCount({ list, isAnnounced = true }: ListCountProps) {
  const text = useListCount(list);
  return (
    <Text size="sm" c="dimmed" mb="xs" {...(isAnnounced ? { role: 'status' } : {})}>
      {text}
    </Text>
  );
}

/** Describes the number of items of a list, such as "1,234 items". Empty until the list is loaded. */
export function useListCount({ isSuccess, total: { count, isExact } }: CountedList): string {
  const { t, code } = useLanguage();
  if (!isSuccess) return '';
  const number = formatNumber(count, code);
  return t(isExact ? 'selection.count' : 'selection.countAtLeast', { count: number });
}
