import { Alert, Badge, Group, Progress, Stack, Text } from '@mantine/core';
import type { EmbeddingModels as Models } from '@quartermaster/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { Card, CardButton, CardList } from '../../components/card-list.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatNumber } from '../../components/format.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { focusHeadingIfLost } from '../../components/forms/use-focus-return.ts';
import { Icon } from '../../components/icons.tsx';
import { Section } from '../../components/section.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { fill, type LanguageCode, useLanguage } from '../../language/language.tsx';
import { modelWords } from './model-words.ts';
import classes from './settings.module.css';

type Model = Models['models'][number];

const queryKey = ['embedding-models'];
/** Milliseconds between two readings while something moves. */
const movingMs = 2_000;

/** As the pages of the models and the command state sizes. */
const formatSize = (bytes: number, code: LanguageCode) => `${formatNumber(Math.round(bytes / 1_000_000), code)} MB`;

function isMoving({ download, collections, models, obstacle }: Models): boolean {
  if (download !== null && download.phase !== 'failed') return true;
  if (collections !== null) return collections.num_embedded < collections.num_all;
  // A model that was chosen just now has not found its collections yet.
  return obstacle === null && models.some(({ state }) => state === 'in_use');
}

/** The recommended embedding models, of which an administrator of the service chooses one. */
export function EmbeddingModels() {
  const words = modelWords[useLanguage().code];
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: () => filesApi.data('GET /v1/embedding_models'),
    refetchInterval: ({ state }) => (state.data !== undefined && isMoving(state.data) ? movingMs : false),
  });
  return (
    <Section id="embedding-models" title={words.title} about={words.about}>
      <Text size="xs" c="dimmed" mb="md">
        {words.notMeasured}
      </Text>
      {error === null ? null : <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined ? null : <Loaded models={data} />}
    </Section>
  );
}

function Loaded({ models }: { models: Models }) {
  const [chosen, setChosen] = useState<Model | null>(null);
  return (
    <Stack gap="md">
      <Trouble models={models} />
      <Steps models={models} />
      <CardList>
        {models.models.map((model) => (
          <ModelCard key={model.name} model={model} models={models} onUse={() => setChosen(model)} />
        ))}
      </CardList>
      {chosen === null ? null : <ConfirmUse model={chosen} source={models.source} onClose={() => setChosen(null)} />}
    </Stack>
  );
}

/** Returns a function that chooses a model, or cancels the download, and shows what the service answers. */
function useChoose() {
  const queries = useQueryClient();
  const { showError } = useToasts();
  const send = async (model: string | null) => {
    queries.setQueryData(queryKey, await filesApi.data('POST /v1/embedding_models', { body: { model } }));
    focusHeadingIfLost();
  };
  return (model: string | null) => send(model).catch(showError);
}

/** Why no model can be chosen, or why the last download has failed. */
function Trouble({ models: { obstacle, download } }: { models: Models }) {
  const { t, code } = useLanguage();
  const words = modelWords[code];
  const choose = useChoose();
  const failed = download?.phase === 'failed' ? download : null;
  if (obstacle === null && failed === null) return null;
  const title = failed === null ? words.obstacle : fill(words.failed, { model: failed.model });
  return (
    <Alert color={failed === null ? 'orange' : 'red'} variant="light" icon={<Icon name="warning" />} title={title}>
      <bdi lang="en" className={classes.message}>
        {obstacle ?? failed?.error}
      </bdi>
      {failed === null ? null : (
        <CardButton label={t('action.close')} of={failed.model} onClick={() => void choose(null)} />
      )}
    </Alert>
  );
}

/** The step that runs. Its numbers change often, so that screen readers hear only its name. */
function Steps({ models: { download, models, collections } }: { models: Models }) {
  const { t, code } = useLanguage();
  const words = modelWords[code];
  const choose = useChoose();
  const loading = download === null || download.phase === 'failed' ? null : download;
  const expected = models.find(({ name }) => name === loading?.model)?.bytes ?? 0;
  const done = loading?.bytes ?? collections?.num_embedded ?? 0;
  const all = loading === null ? (collections?.num_all ?? 0) : expected;
  const format = loading === null ? formatNumber : formatSize;
  const isRunning = loading !== null || done < all;
  const ended = all === 0 ? '' : fill(words.complete, { all: formatNumber(all, code) });
  const running = loading === null ? words.embedding : fill(words[loading.phase], { model: loading.model });
  return (
    <Group justify="space-between">
      <Text size="sm" role="status">
        {isRunning ? running : ended}
      </Text>
      {isRunning ? <Text size="xs" c="dimmed">{`${format(done, code)} / ${format(all, code)}`}</Text> : null}
      {loading === null ? null : (
        <CardButton label={t('action.cancel')} of={loading.model} isEnd onClick={() => void choose(null)} />
      )}
      {isRunning ? (
        <Progress w="100%" size="sm" value={Math.min(100, (done / Math.max(1, all)) * 100)} aria-label={running} />
      ) : null}
    </Group>
  );
}

function ModelCard({ model, models, onUse }: { model: Model; models: Models; onUse: () => void }) {
  const { code } = useLanguage();
  const words = modelWords[code];
  const choose = useChoose();
  const { name, state, dimensions, bytes, licence } = model;
  const count = Number.parseInt(model.languages, 10);
  const languages = Number.isNaN(count) ? words.english : fill(words.languages, { count });
  const isBusy = models.obstacle !== null || (models.download !== null && models.download.phase !== 'failed');
  const inUse = models.models.find((each) => each.state === 'in_use')?.name;
  const canEnd = state === 'former' && inUse !== undefined && !isMoving(models);
  return (
    <Card
      name={name}
      about={
        <>
          <Group gap="xs">
            <Text fw={600}>{name}</Text>
            {state === null ? null : <Badge size="sm">{words[state]}</Badge>}
          </Group>
          <Text size="xs" c="dimmed" mt={4}>
            {fill(words.facts, { languages, dimensions, size: formatSize(bytes, code), licence })}
          </Text>
        </>
      }
      actions={
        <Group gap="xs">
          {canEnd && !isBusy ? (
            <CardButton label={words.end} of={name} isEnd onClick={() => void choose(inUse)} />
          ) : null}
          {state === 'in_use' || isBusy ? null : <CardButton label={words.use} of={name} onClick={onUse} />}
        </Group>
      }
    />
  );
}

function ConfirmUse({ model, source, onClose }: { model: Model; source: string; onClose: () => void }) {
  const { code } = useLanguage();
  const words = modelWords[code];
  const choose = useChoose();
  const { name, bytes, licence } = model;
  const title = fill(words.confirmTitle, { model: name });
  return (
    <Confirm title={title} action={words.use} isEnd={false} onConfirm={() => choose(name)} onClose={onClose}>
      <p>{fill(words.confirmDownload, { size: formatSize(bytes, code), source, licence })}</p>
      <p>{words.confirmEmbed}</p>
    </Confirm>
  );
}
