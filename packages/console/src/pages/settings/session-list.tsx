import { Badge, Button, Group, Text, Title } from '@mantine/core';
import { maxSessions, type Session } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { leaveSession } from '../../api/session.ts';
import { Card, CardButton } from '../../components/card-list.tsx';
import { formatAge, formatTime } from '../../components/format.ts';
import { ListCount } from '../../components/lists/list-count.tsx';
import { LoadedCards } from '../../components/lists/loaded-cards.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { nameOfAgent } from './agent-name.ts';

export const sessionsKey = ['sessions'];

/** The sessions of the administrator, with buttons to end one or all. */
export function SessionList() {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const { say, showError } = useToasts();
  const list = useInfiniteList({
    queryKey: sessionsKey,
    load: (query, signal) => filesApi.json('GET /v1/sessions', { query, signal }),
    idOf: ({ session_id }) => session_id,
  });
  const [ending, setEnding] = useState('');
  const end = async ({ session_id }: Session) => {
    setEnding(session_id);
    try {
      await filesApi.json('DELETE /v1/sessions/{session_id}', { path: { session_id } });
      say(t('settings.sessionEnded'));
    } catch (error) {
      showError(error);
    }
    // This also runs after an error, because an expired session is no longer listed.
    await queries.invalidateQueries({ queryKey: sessionsKey });
    setEnding('');
  };
  return (
    <section aria-labelledby="sessions">
      <Title order={3} size="h5" id="sessions" mt="lg">
        {t('settings.sessions')}
      </Title>
      <Text c="dimmed" size="sm" mb="md">
        {t('settings.sessionsAbout', { most: maxSessions })}
      </Text>
      <ListCount list={list} isAnnounced={false} />
      <LoadedCards list={list}>
        {(item) => <SessionRow item={item} busy={ending === item.session_id} onEnd={() => void end(item)} />}
      </LoadedCards>
      <Button variant="default" mt="md" onClick={() => void leaveSession(queries, true).catch(showError)}>
        {t('settings.everywhere')}
      </Button>
    </section>
  );
}

function SessionRow({ item, busy, onEnd }: { item: Session; busy: boolean; onEnd: () => void }) {
  const { t, code } = useLanguage();
  return (
    <Card
      name={item.session_id}
      about={
        <>
          <Group gap="xs">
            <Text fw={600}>{item.client_address}</Text>
            {item.current ? <Badge size="sm">{t('settings.thisSession')}</Badge> : null}
          </Group>
          <Text size="xs" c="dimmed" mt={4} lineClamp={2} title={item.user_agent}>
            {nameOfAgent(item.user_agent)}
          </Text>
          <Text size="xs" c="dimmed">
            {t('settings.sessionBegan')} {formatTime(item.created_timestamp, code)} · {t('settings.lastUsed')}:{' '}
            {formatAge(item.last_used_timestamp, code)}
          </Text>
        </>
      }
      actions={
        item.current ? null : (
          <CardButton label={t('settings.endSession')} of={item.client_address} loading={busy} isEnd onClick={onEnd} />
        )
      }
    />
  );
}
