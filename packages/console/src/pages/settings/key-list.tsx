import { Badge, Button, Group, Text, Title } from '@mantine/core';
import type { ApiKey, NewApiKey } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useEndlessList } from '../../api/endless-list.ts';
import { useLanguage } from '../../language/language.tsx';
import { Card, CardList } from '../../pieces/card-list.tsx';
import { Empty } from '../../pieces/empty.tsx';
import { Failure } from '../../pieces/failure.tsx';
import { formatAge, formatTime } from '../../pieces/format.ts';
import { Icon } from '../../pieces/icons.tsx';
import { Loading } from '../../pieces/loading.tsx';
import { useToasts } from '../../pieces/toasts.tsx';
import { MadeKey } from './made-key.tsx';
import { NewKey } from './new-key.tsx';
import { RevokeKey } from './revoke-key.tsx';
import { RotateKey } from './rotate-key.tsx';
import classes from './settings.module.css';

type Doing = { readonly what: 'create' } | { readonly what: 'rotate' | 'revoke'; readonly key: ApiKey } | null;

/** The keys of a project: made, rotated, revoked. */
export function KeyList({ projectId }: { projectId: string }) {
  const { t } = useLanguage();
  const path = { project_id: projectId };
  const queryKey = ['keys', projectId];
  const queries = useQueryClient();
  const { say } = useToasts();
  const list = useEndlessList({
    queryKey,
    load: (query, signal) => filesApi.json('GET /v1/projects/{project_id}/keys', { path, query, signal }),
    idOf: (key) => key.key_id,
  });
  const [doing, setDoing] = useState<Doing>(null);
  const [made, setMade] = useState<NewApiKey | null>(null);
  const refresh = () => queries.invalidateQueries({ queryKey });
  const close = () => setDoing(null);
  const show = (key: NewApiKey) => {
    setMade(key);
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
    <section aria-labelledby="keys">
      <Group justify="space-between" align="flex-end" mb="md">
        <div className={classes.words}>
          <Title order={2} size="h4" id="keys">
            {t('settings.keys')}
          </Title>
          <Text c="dimmed" size="sm">
            {t('settings.keysAbout')}
          </Text>
        </div>
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setDoing({ what: 'create' })}>
          {t('settings.newKey')}
        </Button>
      </Group>
      {list.error === null ? null : <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending ? <Loading rows={3} /> : null}
      {list.isSuccess && list.items.length === 0 ? (
        <Empty icon="key" title={t('settings.noKeys')}>
          {t('settings.noKeysAbout')}
        </Empty>
      ) : null}
      <CardList>
        {list.items.map((key) => (
          <KeyRow key={key.key_id} item={key} onDo={(what) => setDoing({ what, key })} />
        ))}
      </CardList>
      {list.hasNextPage ? (
        <Button variant="default" mt="sm" onClick={list.loadMore}>
          …
        </Button>
      ) : null}
      {doing?.what === 'create' ? <NewKey projectId={projectId} onMade={show} onClose={close} /> : null}
      {doing?.what === 'rotate' ? (
        <RotateKey projectId={projectId} item={doing.key} onMade={show} onClose={close} />
      ) : null}
      {doing?.what === 'revoke' ? <RevokeKey item={doing.key} onConfirm={revoke} onClose={close} /> : null}
      {made === null ? null : <MadeKey made={made} onClose={() => setMade(null)} />}
    </section>
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
            <Button size="xs" variant="default" onClick={() => onDo('rotate')}>
              {t('settings.rotate')}
            </Button>
            <Button size="xs" variant="light" color="red" onClick={() => onDo('revoke')}>
              {t('settings.revoke')}
            </Button>
          </Group>
        ) : null
      }
    />
  );
}
