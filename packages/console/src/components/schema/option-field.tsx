import { Button, Group, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { Plugin, PropertyOptions } from '@quartermaster/contract';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useState } from 'react';
import { useLanguage } from '../../language/language.tsx';
import { describeFailure } from '../failure.tsx';
import type { FieldProps } from './basic-fields.tsx';
import { type Choice, withOptions } from './field-values.ts';
import type { JsonSchema } from './json-schema.ts';

type PropertyChoice = NonNullable<Plugin['choices']>[string];

/** Where the values of inputs come from that only the third party knows. */
export interface OptionsSource {
  /** The schema of the inputs; its members have the choices. */
  readonly schema: JsonSchema;
  readonly choices: NonNullable<Plugin['choices']>;
  readonly input: Readonly<Record<string, unknown>>;
  /** null while some are missing. */
  readonly credentials: object | null;
  readonly load: (wanted: { property: string; search: string }, signal: AbortSignal) => Promise<PropertyOptions>;
}

export const OptionsContext = createContext<OptionsSource | null>(null);

/** Credentials must not be part of the key of a query, which other parts of the page can read. */
const ids = new WeakMap<object, number>();
let lastId = 0;
function idOf(credentials: object): number {
  const id = ids.get(credentials) ?? ++lastId;
  ids.set(credentials, id);
  return id;
}

/** Waits for the user to finish typing, because each request calls the third party. */
const pauseMs = 500;

function useOptions(
  source: OptionsSource,
  { name, choice, search }: { name: string; choice: PropertyChoice; search: string },
) {
  const { input, credentials, schema } = source;
  const missing = choice.depends_on.filter((one) => schema.required?.includes(one) && input[one] === undefined);
  const depends = choice.depends_on.map((one) => input[one] ?? null);
  const key = credentials === null || missing.length > 0 ? '' : JSON.stringify([depends, idOf(credentials), search]);
  const [settled] = useDebouncedValue(key, pauseMs);
  const query = useQuery({
    queryKey: ['options', name, settled],
    queryFn: ({ signal }) => source.load({ property: name, search }, signal),
    enabled: settled !== '',
    retry: false,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  return { ...query, missing };
}

export interface OptionFieldProps extends FieldProps {
  readonly source: OptionsSource;
  readonly choice: PropertyChoice;
  /** Renders the field with the values in its schema. */
  readonly render: (schema: JsonSchema) => ReactNode;
}

/** An input whose values the third party knows: a choice once they are loaded, otherwise free text. */
export function OptionField({ source, choice, render, ...props }: OptionFieldProps) {
  const { t, explain } = useLanguage();
  const { name, schema, value } = props;
  const [search, setSearch] = useState('');
  const [isFree, setFree] = useState(false);
  const { data, error, isFetching, missing } = useOptions(source, { name, choice, search });
  const found: readonly Choice[] = isFree ? [] : (data?.options ?? []);
  const words = () => {
    if (source.credentials === null) return t('options.needsCredentials');
    if (missing.length > 0) return t('options.needsInputs', { names: missing.join(', ') });
    if (isFetching) return t('loading');
    if (error !== null) return describeFailure(error, explain);
    return (
      data?.hint ??
      (data !== undefined && data.schema === null ? t('options.found', { count: data.options.length }) : '')
    );
  };
  const hasChoices = (data?.options.length ?? 0) > 0;
  return (
    <div>
      {render(withOptions(schema, { kind: choice.kind, options: found, schema: data?.schema ?? null, value }))}
      <Group gap="xs" mt={4}>
        <Text size="xs" c={error === null ? 'dimmed' : 'var(--mantine-color-error)'} role="status">
          {words()}
        </Text>
        {hasChoices ? (
          <Button size="compact-xs" variant="default" onClick={() => setFree(!isFree)}>
            {t(isFree ? 'options.choose' : 'options.enter', { name })}
          </Button>
        ) : null}
      </Group>
      {search !== '' || data?.has_more === true ? (
        <TextInput
          size="xs"
          mt={4}
          label={t('options.search', { name })}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      ) : null}
    </div>
  );
}
