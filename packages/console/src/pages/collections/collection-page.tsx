import { Badge, Button, Group, Tabs, Text } from '@mantine/core';
import type { Collection } from '@quartermaster/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { usePageChoice } from '../../app/page-state.ts';
import { useMay } from '../../app/project.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Failure } from '../../components/failure.tsx';
import { ConfirmButton } from '../../components/forms/confirm-button.tsx';
import { Dialog } from '../../components/forms/dialog.tsx';
import { NameField } from '../../components/forms/name-field.tsx';
import { RenameButton } from '../../components/forms/rename-button.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { Icon } from '../../components/icons.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ParentLink } from '../../components/parent-link.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { tones } from '../../components/tones.ts';
import { useLanguage } from '../../language/language.tsx';
import { ChangeChunking } from './chunk-size.tsx';
import { EmbeddingState } from './embedding-state.tsx';
import { RecordList } from './record-list.tsx';
import { Reembed } from './reembed.tsx';
import { tableWords } from './table-words.ts';

/** These load with their tabs, because the page opens with the documents. */
const SearchBox = lazy(() => import('./search-box.tsx').then((module) => ({ default: module.SearchBox })));
const Evaluation = lazy(() => import('./evaluation.tsx').then((module) => ({ default: module.Evaluation })));

const keyOf = (collectionId: string) => ['collection', collectionId];

const tabs = ['records', 'search', 'evaluate'] as const;

/** One collection: its records and a search. */
export function CollectionPage() {
  const { t } = useLanguage();
  const mayChange = useMay('change');
  const [tab, openTab] = usePageChoice('tab', tabs, 'push');
  const { collectionId } = useParams({ strict: false }) as { collectionId: string }; // of this page's route
  const collection = useQuery({
    queryKey: keyOf(collectionId),
    queryFn: () => filesApi.data('GET /v1/collections/{collection_id}', { path: { collection_id: collectionId } }),
    refetchInterval: ({ state: { data } }) =>
      data?.vectors === 'catching_up' || (data?.rechunking.num_pending_records ?? 0) > 0 ? 2000 : false,
  });
  if (collection.error !== null) {
    return <Failure error={collection.error} onRetry={() => void collection.refetch()} />;
  }
  if (collection.data === undefined) return <Loading />;
  const item = collection.data;
  const vectors = item.embedding === null ? null : <EmbeddingState embedding={item.embedding} />;
  // Above the documents only after an error, because it takes the room of two of them.
  const isQuiet = item.embedding?.last_error === null;
  return (
    <>
      <PageHead
        parent={<ParentLink to="/collections">{t('collections.title')}</ParentLink>}
        title={item.name === '' ? t('collections.unnamed') : item.name}
        part={tab === 'records' ? undefined : t(`collections.tab.${tab}`)}
        about={<CollectionFacts item={item} />}
        actions={mayChange ? <Actions item={item} /> : undefined}
      />
      {isQuiet ? null : vectors}
      <Tabs value={tab} onChange={openTab} keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="records">{t('collections.tab.records')}</Tabs.Tab>
          <Tabs.Tab value="search">{t('collections.tab.search')}</Tabs.Tab>
          {mayChange ? <Tabs.Tab value="evaluate">{t('collections.tab.evaluate')}</Tabs.Tab> : null}
        </Tabs.List>
        <Tabs.Panel value="records">
          <RecordList collection={item} />
        </Tabs.Panel>
        <Tabs.Panel value="search">
          <Suspense fallback={<Loading />}>
            <SearchBox collection={item} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="evaluate">
          <Suspense fallback={<Loading />}>
            <Evaluation collection={item} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
      {isQuiet ? vectors : null}
    </>
  );
}

function Actions({ item }: { item: Collection }) {
  const queries = useQueryClient();
  const onChanged = (changed: Collection) => queries.setQueryData(keyOf(item.collection_id), changed);
  const rename = async (name: string) => {
    const path = { collection_id: item.collection_id };
    onChanged(await filesApi.data('POST /v1/collections/{collection_id}', { path, body: { name } }));
    await queries.invalidateQueries({ queryKey: ['collections'] });
  };
  return (
    <>
      <RenameButton name={item.name} onRename={rename} />
      {item.type === 'text' ? <ChangeChunking item={item} onChanged={onChanged} /> : null}
      {item.vectors === 'off' ? null : <RetryRefused item={item} />}
      {item.vectors === 'off' ? null : <Reembed item={item} onChanged={onChanged} />}
      <DeleteCollection item={item} />
    </>
  );
}

/** The type, the description, the state and the id of a collection. */
function CollectionFacts({ item }: { item: Collection }) {
  const { t } = useLanguage();
  // The model refused texts: nothing more is done without the user.
  const vectors = item.vectors === 'current' && (item.embedding?.num_refused ?? 0) > 0 ? 'incomplete' : item.vectors;
  return (
    <Group gap="xs">
      {t(`collections.type.${item.type}`)}
      {item.description === '' ? '' : ` · ${item.description}`}
      {item.rechunking.num_pending_records === 0 ? null : (
        <Badge size="sm" color={tones.going}>
          {t('chunking.pending', { count: item.rechunking.num_pending_records })}
        </Badge>
      )}
      {vectors === 'off' ? null : (
        <Badge size="sm" color={colors[vectors]} data-vectors={vectors}>
          {t(`vectors.${vectors}`)}
        </Badge>
      )}
      <CopyButton
        text={item.collection_id}
        label={item.collection_id}
        what={`${t('action.copy')}: ${item.collection_id}`}
      />
    </Group>
  );
}

const colors = {
  current: tones.good,
  catching_up: tones.going,
  other_model: tones.caution,
  incomplete: tones.caution,
} as const;

/** Sends the texts that the model has refused again, for example after a correction of its configuration. */
function RetryRefused({ item }: { item: Collection }) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const queries = useQueryClient();
  const refused = item.embedding?.num_refused ?? 0;
  if (refused === 0) return null;
  const retry = async () => {
    const path = { collection_id: item.collection_id };
    const changed = await filesApi.data('POST /v1/collections/{collection_id}/embedding_failures/retry', { path });
    queries.setQueryData(keyOf(item.collection_id), changed);
    say(t('vectors.retried'));
  };
  return (
    <ConfirmButton
      icon="refresh"
      look={{ variant: 'default' }}
      title={t('vectors.retryTitle', { count: refused })}
      action={t('vectors.retry')}
      onConfirm={retry}
    >
      {t('vectors.retryAbout', { reason: item.embedding?.last_error?.reason ?? '' })}
    </ConfirmButton>
  );
}

/** Deletes the collection after its name was typed, because it cannot be restored. */
function DeleteCollection({ item }: { item: Collection }) {
  const { t, code } = useLanguage();
  const words = tableWords[code];
  const [isAsking, setAsking] = useState(false);
  const [typed, setTyped] = useState('');
  const name = item.name === '' ? t('collections.unnamed') : item.name;
  const { say } = useToasts();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = async () => {
    await filesApi.json('DELETE /v1/collections/{collection_id}', { path: { collection_id: item.collection_id } });
    await queries.invalidateQueries({ queryKey: ['collections'] });
    say(t('collections.deleted', { name: item.name }));
    await navigate({ to: '/collections' });
  };
  return (
    <>
      <Button variant="light" color="red" leftSection={<Icon name="trash" size={16} />} onClick={() => setAsking(true)}>
        {words.deleteCollection}
      </Button>
      {isAsking ? (
        <Dialog onClose={() => setAsking(false)} title={t('collections.deleteTitle', { name })}>
          <Text size="sm" mb="md">
            {t('collections.deleteAbout')}
          </Text>
          <SubmitForm action={words.deleteCollection} onSubmit={remove} isReady={typed.trim() === name.trim()}>
            {(failure) => (
              <NameField
                label={words.deleteName.replace('{name}', () => name)}
                value={typed}
                onChange={setTyped}
                failure={failure}
              />
            )}
          </SubmitForm>
        </Dialog>
      ) : null}
    </>
  );
}
