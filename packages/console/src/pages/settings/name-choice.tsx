import { Checkbox, Stack, Text, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '../../components/icons.tsx';
import classes from './settings.module.css';

interface NameChoiceProps {
  readonly label: string;
  readonly hint: string;
  readonly searchLabel: string;
  /** Shown when nothing is found. */
  readonly none: string;
  /** Null when enough is chosen. */
  readonly error: string | null;
  readonly failure: ReactNode;
  readonly text: string;
  readonly onSearch: (text: string) => void;
  readonly chosen: readonly string[];
  readonly onChange: (chosen: string[]) => void;
  /** What can be checked, by its name or id. */
  readonly titles: ReadonlyMap<string, string>;
}

/** A list to check, filtered by words. Checked entries stay in the list. */
export function NameChoice({ titles, chosen, onChange, text, onSearch, ...shown }: NameChoiceProps) {
  return (
    <Checkbox.Group
      label={shown.label}
      description={shown.hint}
      value={[...chosen]}
      onChange={onChange}
      error={shown.error}
    >
      <TextInput
        mt="xs"
        aria-label={shown.searchLabel}
        placeholder={shown.searchLabel}
        leftSection={<Icon name="search" size={16} />}
        value={text}
        maxLength={200}
        onChange={(event) => onSearch(event.currentTarget.value)}
      />
      {shown.failure}
      <Stack gap="xs" mt="xs" className={classes.choices} role="group" aria-label={shown.label} tabIndex={0}>
        {[...titles].map(([name, title]) => (
          <Checkbox key={name} value={name} label={title === name ? name : `${title} (${name})`} />
        ))}
        {titles.size === 0 ? <Text size="sm">{shown.none}</Text> : null}
      </Stack>
    </Checkbox.Group>
  );
}
