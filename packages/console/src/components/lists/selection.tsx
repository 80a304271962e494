import { Checkbox, Group, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useMay } from '../../app/project.tsx';
import { useLanguage } from '../../language/language.tsx';
import { useToasts } from '../toasts.tsx';
import { type CountedList, useListCount } from './list-count.tsx';
import classes from './selection.module.css';

/** The chosen items of a list. */
export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly choose: (ids: Iterable<string>) => void;
  readonly toggle: (id: string) => void;
}

/** Another filter ends a selection, so that no action changes items that are not shown. */
export function useSelection(filter: string): Selection {
  const [chosen, setChosen] = useState<{ readonly filter: string; readonly ids: ReadonlySet<string> }>();
  const ids = chosen?.filter === filter ? chosen.ids : none;
  const choose = (next: Iterable<string>) => setChosen({ filter, ids: new Set(next) });
  const toggle = (id: string) => choose(ids.has(id) ? [...ids].filter((one) => one !== id) : [...ids, id]);
  return { ids, choose, toggle };
}

const none: ReadonlySet<string> = new Set();
const atOnce = 4;

/** Calls `act` for each id, four at a time. Reports the first failure. @returns the ids that failed */
export function useForEach() {
  const { t } = useLanguage();
  const { showError } = useToasts();
  return async (ids: Iterable<string>, act: (id: string) => Promise<unknown>): Promise<readonly string[]> => {
    const waiting = [...ids];
    const failed: string[] = [];
    let first: unknown;
    const work = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        try {
          await act(id);
        } catch (error) {
          first ??= error;
          failed.push(id);
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    if (failed.length > 0) {
      showError(t('selection.failed', { count: failed.length }));
      showError(first);
    }
    return failed;
  };
}

export interface SelectionBarProps {
  readonly selection: Selection;
  readonly list: CountedList;
  /** The ids of the loaded items. */
  readonly loaded: readonly string[];
  /** Actions on the chosen items. */
  readonly children: ReactNode;
}

type Chosen = Pick<SelectionBarProps, 'selection' | 'loaded'>;
const countChosen = ({ selection, loaded }: Chosen) => loaded.filter((id) => selection.ids.has(id)).length;

/** Counts the items of a list, selects all loaded ones, and offers actions on the chosen ones. */
export function SelectionBar({ children, list, ...chosen }: SelectionBarProps) {
  const isReader = !useMay('change');
  return (
    <Group gap="sm" className={classes.bar} mih={36}>
      {chosen.loaded.length === 0 || isReader ? null : <SelectAll {...chosen} />}
      <SelectionCount list={list} {...chosen} />
      {countChosen(chosen) > 0 ? <Group gap="xs">{children}</Group> : null}
    </Group>
  );
}

/** Selects all loaded items, or none. */
export function SelectAll({ selection, loaded, size = 'sm' }: Chosen & { readonly size?: 'xs' | 'sm' }) {
  const { t } = useLanguage();
  const chosen = countChosen({ selection, loaded });
  const isAll = chosen > 0 && chosen === loaded.length;
  return (
    <Checkbox
      size={size}
      aria-label={t('selection.all')}
      checked={isAll}
      indeterminate={chosen > 0 && !isAll}
      onChange={() => selection.choose(isAll ? [] : loaded)}
    />
  );
}

/** Tells how many items the list has, and how many are chosen. */
export function SelectionCount({ list, ...of }: Chosen & Pick<SelectionBarProps, 'list'>) {
  const { t } = useLanguage();
  const count = useListCount(list);
  const chosen = countChosen(of);
  return (
    <Text size="sm" c="dimmed" role="status">
      {count}
      {chosen > 0 ? ` · ${t('selection.chosen', { count: chosen })}` : ''}
    </Text>
  );
}

/** A row with a checkbox, for those who may do something with it. */
export function SelectableRow({
  selection,
  id,
  name,
  children,
}: {
  selection: Selection;
  id: string;
  name: string;
  children: ReactNode;
}) {
  const { t } = useLanguage();
  if (!useMay('change')) return children;
  return (
    <div className={classes.row}>
      <Checkbox
        aria-label={t('selection.one', { name })}
        checked={selection.ids.has(id)}
        onChange={() => selection.toggle(id)}
      />
      <div className={classes.content}>{children}</div>
    </div>
  );
}
