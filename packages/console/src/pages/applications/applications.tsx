import { Badge, Group, Text } from '@mantine/core';
import type { Application } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { basePath } from '../../base-path.ts';
import { Card, CardButton, CardList } from '../../components/card-list.tsx';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatAge, formatTime } from '../../components/format.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { ListCount } from '../../components/lists/list-count.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { KeyPermissions } from '../settings/key-permissions.tsx';

const applicationsKey = ['applications'];

/** The applications that people have allowed something, with a button to sign each out. */
export function Applications() {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const { say } = useToasts();
  const [ending, setEnding] = useState<Application | null>(null);
  const list = useInfiniteList({
    queryKey: applicationsKey,
    load: (query, signal) => filesApi.json('GET /v1/applications', { query, signal }),
    idOf: ({ application_id }) => application_id,
  });
  const end = async ({ application_id }: Application) => {
    await filesApi.json('DELETE /v1/applications/{application_id}', { path: { application_id } });
    say(t('applications.signedOut'));
    await queries.invalidateQueries({ queryKey: applicationsKey });
  };
  const isEmpty = list.isSuccess && list.items.length === 0;
  return (
    <>
      <PageHead title={t('applications.title')} about={t('applications.about')} />
      {list.error === null ? null : <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending ? <Loading rows={2} /> : null}
      {isEmpty ? (
        <Empty icon="globe" title={t('applications.empty')}>
          {t('applications.emptyAbout', { url: `${window.location.origin}${basePath}/mcp` })}
        </Empty>
      ) : (
        <ListCount list={list} isAnnounced={false} />
      )}
      <CardList>
        {list.items.map((item) => (
          <ApplicationCard key={item.application_id} item={item} onEnd={() => setEnding(item)} />
        ))}
      </CardList>
      {ending === null ? null : (
        <Confirm
          title={t('applications.signOutTitle', { name: titleOf(ending) })}
          action={t('applications.signOut')}
          onConfirm={() => end(ending)}
          onClose={() => setEnding(null)}
        >
          {t('applications.signOutAbout')}
        </Confirm>
      )}
    </>
  );
}

/** The host proves who it is. Without one there is only the name that it gives itself, in quotes. */
function titleOf({ host, name, client_id }: Application): string {
  return host ?? (name === null ? client_id : `“${name}”`);
}

function ApplicationCard({ item, onEnd }: { item: Application; onEnd: () => void }) {
  const { t, code } = useLanguage();
  const lastUsed = item.last_used_timestamp;
  return (
    <Card
      name={item.application_id}
      about={
        <>
          <Group gap="xs">
            <Text fw={600}>{titleOf(item)}</Text>
            {item.host === null ? (
              <Badge size="sm" color="orange">
                {t('applications.unverified')}
              </Badge>
            ) : null}
          </Group>
          {item.host === null || item.name === null ? null : (
            <Text size="xs" c="dimmed">
              {t('applications.itself', { name: item.name })}
            </Text>
          )}
          <KeyPermissions of={item} />
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {t('applications.resource')}: {item.resource}
          </Text>
          <Text size="xs" c="dimmed">
            {t('settings.lastUsed')}: {lastUsed === null ? t('applications.never') : formatAge(lastUsed, code)} ·{' '}
            {t('applications.expires')} {formatTime(item.expires_timestamp, code)}
          </Text>
        </>
      }
      actions={<CardButton label={t('applications.signOut')} of={titleOf(item)} isEnd onClick={onEnd} />}
    />
  );
}
