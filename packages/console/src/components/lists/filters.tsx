import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useLanguage } from '../../language/language.tsx';
import { Icon } from '../icons.tsx';
import classes from './filters.module.css';

export interface FiltersProps {
  readonly name: string;
  readonly onName: (name: string) => void;
  readonly children?: ReactNode;
}

/** The search by name of a list, and its other filters. */
export function Filters({ name, onName, children }: FiltersProps) {
  const { t } = useLanguage();
  return (
    <div className={classes.filters}>
      <TextInput
        aria-label={t('files.searchName')}
        placeholder={t('files.searchName')}
        leftSection={<Icon name="search" size={16} />}
        value={name}
        onChange={(event) => onName(event.currentTarget.value)}
        maxLength={127}
        className={classes.search}
      />
      {children}
    </div>
  );
}
