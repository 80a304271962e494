import { Alert, Button, Group, Stack, Tabs, Text, Textarea } from '@mantine/core';
import type { Bundle, Plugin } from '@quartermaster/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useRef, useState } from 'react';
import { execute, listOptions, runsKey, startRun } from '../../api/runs.ts';
import { useKeptFocus } from '../../components/forms/use-focus-return.ts';
import { Icon } from '../../components/icons.tsx';
import type { JsonSchema } from '../../components/schema/json-schema.ts';
import { OptionsContext, type OptionsSource } from '../../components/schema/option-field.tsx';
import { SchemaForm, type Values } from '../../components/schema/schema-form.tsx';
import { Section } from '../../components/section.tsx';
import { Snippet } from '../../components/snippet.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { CredentialsForm, profileOf } from './credentials-form.tsx';
import { examplesOf } from './examples.ts';
import classes from './plugin.module.css';
import { TryResult } from './try-result.tsx';

/** Runs the plugin with the input of the form. Credentials are dropped when the user leaves the page. */
export function TryIt({ bundle, plugin }: { bundle: Bundle; plugin: Plugin }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { showError } = useToasts();
  const [input, setInput] = useState<Values>({});
  const [credentials, setCredentials] = useState<Values>({});
  const stop = useRef<AbortController | null>(null);
  const { bundle_id, plugin_id } = plugin;
  const call = { bundle_id, plugin_id, input_params: input, credentials };
  const run = useMutation({
    // Drops the credentials from the cache of mutations immediately.
    gcTime: 0,
    mutationFn: () => {
      stop.current = new AbortController();
      return execute(call, stop.current.signal);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: runsKey }),
  });
  const start = useMutation({
    gcTime: 0,
    mutationFn: () => startRun(call),
    onSuccess: ({ run_id: runId }) => navigate({ to: '/runs/$runId', params: { runId } }),
    onError: showError,
  });
  const options = optionsOf({ bundle, plugin, input, credentials });
  useKeptFocus(run.isPending || start.isPending);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    run.mutate();
  };
  return (
    <div className={classes.columns}>
      <form onSubmit={submit} autoComplete="off">
        <Stack gap="lg">
          <Warning effects={plugin.effects} />
          <OptionsContext value={options}>
            <InputForm schema={plugin.input_schema} value={input} onChange={setInput} />
          </OptionsContext>
          <CredentialsForm bundle={bundle} value={credentials} onChange={setCredentials} />
          <Group gap="xs">
            <Button type="submit" loading={run.isPending} leftSection={<Icon name="play" size={16} />}>
              {t('try.run')}
            </Button>
            {run.isPending ? (
              <Button variant="default" onClick={() => stop.current?.abort()}>
                {t('try.stop')}
              </Button>
            ) : (
              <Button variant="default" loading={start.isPending} onClick={() => start.mutate()}>
                {t('try.start')}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
      <Stack gap="xl">
        <TryResult result={run.data} error={run.error} isRunning={run.isPending} />
        <SameElsewhere bundle={bundle} plugin={plugin} input={input} credentials={credentials} />
      </Stack>
    </div>
  );
}

/** Where the values of inputs come from that only the third party knows; null when the plugin has none. */
function optionsOf({ bundle, plugin, input, credentials }: ElsewhereProps): OptionsSource | null {
  const { choices, input_schema: schema, ...path } = plugin;
  if (choices === undefined) return null;
  const areThere = hasCredentials(bundle.credentials_schema, credentials);
  return {
    schema,
    choices,
    input,
    credentials: areThere ? credentials : null,
    load: (wanted, signal) => listOptions(path, { ...wanted, input_params: input, credentials }, signal),
  };
}

/** Whether a profile or all required credentials are there. */
function hasCredentials({ properties = {}, required = [], anyOf }: JsonSchema, credentials: Values): boolean {
  const holds = (names: readonly string[]) => names.every((name) => Boolean(credentials[name]));
  if (profileOf(credentials) !== null || Object.keys(properties).length === 0) return true;
  return holds(required) && (anyOf === undefined || anyOf.some((one) => holds(one.required ?? [])));
}

function Warning({ effects }: { effects: Plugin['effects'] }) {
  const { t } = useLanguage();
  if (effects === 'read') return null;
  const isBad = effects === 'destructive';
  return (
    <Alert color={isBad ? 'red' : 'orange'} variant="light" icon={<Icon name="warning" />}>
      {t(isBad ? 'try.destructive' : 'try.writes')}
    </Alert>
  );
}

interface FormProps {
  readonly schema: JsonSchema;
  readonly value: Values;
  readonly onChange: (value: Values) => void;
}

function InputForm({ schema, value, onChange }: FormProps) {
  const { t } = useLanguage();
  return (
    <Section id="try-input" size="h5" title={t('try.input')}>
      <Tabs defaultValue="form" keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="form">{t('try.form')}</Tabs.Tab>
          <Tabs.Tab value="json">{t('try.json')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="form">
          {Object.keys(schema.properties ?? {}).length === 0 ? <Text size="sm">{t('plugin.noInput')}</Text> : null}
          <SchemaForm
            schema={schema}
            root={schema}
            value={value}
            onChange={(next) => onChange(next as Values)} // the form of an object makes objects
          />
        </Tabs.Panel>
        <Tabs.Panel value="json">
          <RawJson value={value} onChange={onChange} />
        </Tabs.Panel>
      </Tabs>
    </Section>
  );
}

function RawJson({ value, onChange }: Omit<FormProps, 'schema'>) {
  const { t } = useLanguage();
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const [failure, setFailure] = useState<string | null>(null);
  const change = (next: string) => {
    setText(next);
    try {
      const parsed: unknown = JSON.parse(next);
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new Error('{ … }');
      onChange(parsed as Values); // an object, checked
      setFailure(null);
    } catch (error) {
      setFailure(t('try.badJson', { reason: (error as Error).message }));
    }
  };
  return (
    <Textarea
      aria-label={t('try.json')}
      rows={12}
      value={text}
      error={failure}
      spellCheck={false}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

interface ElsewhereProps {
  readonly bundle: Bundle;
  readonly plugin: Plugin;
  readonly input: Values;
  readonly credentials: Values;
}

function SameElsewhere({ bundle, plugin, input, credentials }: ElsewhereProps) {
  const { t } = useLanguage();
  const schema: JsonSchema = bundle.credentials_schema;
  const profile = profileOf(credentials);
  const needed = profile === null ? [...new Set([...(schema.required ?? []), ...Object.keys(credentials)])] : [];
  const examples = examplesOf({ bundle, plugin, input, credentials: needed, profile });
  return (
    <Section id="elsewhere" size="h5" title={t('try.same')}>
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List mb="sm">
          {Object.keys(examples).map((name) => (
            <Tabs.Tab key={name} value={name}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {Object.entries(examples).map(([name, code]) => (
          <Tabs.Panel key={name} value={name}>
            <Snippet code={code} label={name} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Section>
  );
}
