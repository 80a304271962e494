import { Badge, Button, Group, Text } from '@mantine/core';
import type { ApiKey, NewApiKey } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { Card, CardButton, CardList } from '../../components/card-list.tsx';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatAge, formatTime } from '../../components/format.ts';
import { Icon } from '../../components/icons.tsx';
import { ListCount } from '../../components/lists/list-count.tsx';
import { Loading } from '../../components/loading.tsx';
import { Section } from '../../components/section.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { CreatedKey } from './created-key.tsx';
import { KeyPermissions } from './key-permissions.tsx';
import { NewKey } from './new-key.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { RotateKey } from './rotate-key.tsx';

type Action = { readonly what: 'create' } | { readonly what: 'rotate' | 'revoke'; readonly key: ApiKey } | null;

/** Lists, creates, rotates and revokes the keys of a project. */
export function KeyList({ projectId }: { projectId: string }) {
  const { t } = useLanguage();
  const path = { project_id: projectId };
  const queryKey = ['keys', projectId];
  const queries = useQueryClient();
  const { say } = useToasts();
  const list = useInfiniteList({
    queryKey,
    load: (query, signal) => filesApi.json('GET /v1/projects/{project_id}/keys', { path, query, signal }),
    idOf: (key) => key.key_id,
  });
  const [action, setAction] = useState<Action>(null);
  const [created, setCreated] = useState<NewApiKey | null>(null);
  const refresh = () => queries.invalidateQueries({ queryKey });
  const close = () => setAction(null);
  const show = (key: NewApiKey) => {
    setCreated(key);
    close();
    void refresh();
  };
  const revoke = async (key: ApiKey, withDescendants: boolean) => {
    await filesApi.json('DELETE /v1/projects/{project_id}/keys/{key_id}', {
      path: { ...path, key_id: key.key_id },
      query: { descendants: withDescendants || undefined },
    });
    await refresh();
    say(t('settings.revoked', { name: key.name }));
  };
  return (
    <Section
      id="keys"
      title={t('settings.keys')}
      about={t('settings.keysAbout')}
      actions={
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAction({ what: 'create' })}>
          {t('settings.newKey')}
        </Button>
      }
    >
      {list.error === null ? null : <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending ? <Loading rows={3} /> : null}
      {list.isSuccess && list.items.length === 0 ? (
        <Empty icon="key" title={t('settings.noKeys')}>
          {t('settings.noKeysAbout')}
        </Empty>
      ) : null}
      <ListCount list={list} />
      <CardList>
        {list.items.map((key) => (
          <KeyRow key={key.key_id} item={key} onDo={(what) => setAction({ what, key })} />
        ))}
      </CardList>
      {list.hasNextPage ? (
        <Button variant="default" mt="sm" onClick={list.loadMore}>
          {t('action.more')}
        </Button>
      ) : null}
      {action?.what === 'create' ? <NewKey projectId={projectId} onCreated={show} onClose={close} /> : null}
      {action?.what === 'rotate' ? (
        <RotateKey projectId={projectId} item={action.key} onCreated={show} onClose={close} />
      ) : null}
      {action?.what === 'revoke' ? <RevokeKey item={action.key} onConfirm={revoke} onClose={close} /> : null}
      {created === null ? null : <CreatedKey created={created} onClose={() => setCreated(null)} />}
    </Section>
  );
}

const colors = { active: 'teal.9', expired: 'gray.7', revoked: 'red.9' } as const;

function KeyRow({ item, onDo }: { item: ApiKey; onDo: (what: 'rotate' | 'revoke') => void }) {
  const { t, code } = useLanguage();
  const lastUsed = item.last_used_timestamp;
  const expires = item.expires_timestamp;
  return (
    <Card
      name={item.name}
      about={
        <>
          <Group gap="xs">
            <Text fw={600}>{item.name}</Text>
            <code>qmk_…{item.hint}</code>
            <Badge size="sm" color={colors[item.state]}>
              {t(`settings.state.${item.state}`)}
            </Badge>
          </Group>
          <Text size="xs" c="dimmed" mt={4}>
            {item.scopes.join(' · ')}
          </Text>
          <KeyPermissions of={item} />
          <Text size="xs" c="dimmed">
            {t('settings.created')} {formatTime(item.created_timestamp, code)} · {t('settings.lastUsed')}:{' '}
            {lastUsed === null ? t('settings.neverUsed') : formatAge(lastUsed, code)} · {t('settings.expires')}:{' '}
            {expires === null ? t('settings.never') : formatTime(expires, code)}
          </Text>
        </>
      }
      actions={
        item.state === 'active' ? (
          <Group gap="xs">
            <CardButton label={t('settings.rotate')} of={item.name} onClick={() => onDo('rotate')} />
            <CardButton label={t('settings.revoke')} of={item.name} isEnd onClick={() => onDo('revoke')} />
          </Group>
        ) : null
      }
    />
  );
}
