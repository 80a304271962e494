import { Button, NativeSelect, Text, TextInput } from '@mantine/core';
import type { ApiKey, Application, RateLimit } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { Card, CardButton } from '../../components/card-list.tsx';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Dialog } from '../../components/forms/dialog.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { Icon } from '../../components/icons.tsx';
import { LoadedCards } from '../../components/lists/loaded-cards.tsx';
import { Section } from '../../components/section.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';

/** Lists, creates and deletes the rate limits of a project. */
export function RateLimits({ projectId }: { projectId: string }) {
  const { t } = useLanguage();
  const path = { project_id: projectId };
  const queryKey = ['rate-limits', projectId];
  const queries = useQueryClient();
  const { say } = useToasts();
  const subjects = useSubjects(projectId);
  const [isCreating, setCreating] = useState(false);
  const [ending, setEnding] = useState<RateLimit | null>(null);
  const list = useInfiniteList({
    queryKey,
    load: (query, signal) => filesApi.json('GET /v1/projects/{project_id}/rate_limits', { path, query, signal }),
    idOf: ({ rate_limit_id }) => rate_limit_id,
  });
  const finish = async (message: 'rates.created' | 'rates.deleted') => {
    await queries.invalidateQueries({ queryKey });
    say(t(message));
    setCreating(false);
  };
  const end = async ({ rate_limit_id }: RateLimit) => {
    const rule = { ...path, rate_limit_id };
    await filesApi.json('DELETE /v1/projects/{project_id}/rate_limits/{rate_limit_id}', { path: rule });
    await finish('rates.deleted');
  };
  return (
    <Section
      id="rate-limits"
      title={t('rates.title')}
      about={t('rates.about')}
      actions={
        <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
          {t('rates.new')}
        </Button>
      }
    >
      <LoadedCards list={list} empty={<Text size="sm">{t('rates.none')}</Text>}>
        {(item) => <RateLimitCard item={item} subjects={subjects} onEnd={() => setEnding(item)} />}
      </LoadedCards>
      {isCreating ? (
        <NewRateLimit
          projectId={projectId}
          subjects={subjects}
          onCreated={() => finish('rates.created')}
          onClose={() => setCreating(false)}
        />
      ) : null}
      {ending === null ? null : (
        <Confirm
          title={t('rates.deleteTitle')}
          action={t('action.delete')}
          onConfirm={() => end(ending)}
          onClose={() => setEnding(null)}
        >
          {t('rates.deleteAbout')}
        </Confirm>
      )}
    </Section>
  );
}

type Subjects = ReadonlyMap<string, string>;

/** The names of the keys and applications that can be limited, by their ids. */
function useSubjects(projectId: string): Subjects {
  const path = { project_id: projectId };
  const keys = useInfiniteList<ApiKey>({
    queryKey: ['keys', projectId],
    load: (query, signal) => filesApi.json('GET /v1/projects/{project_id}/keys', { path, query, signal }),
    idOf: ({ key_id }) => key_id,
  });
  const applications = useInfiniteList<Application>({
    queryKey: ['applications'],
    load: (query, signal) => filesApi.json('GET /v1/applications', { query, signal }),
    idOf: ({ application_id }) => application_id,
  });
  return new Map([
    ...keys.items.filter(({ state }) => state === 'active').map((key) => [key.key_id, key.name] as const),
    ...applications.items
      .filter(({ project_id }) => project_id === projectId)
      .map((one) => [one.application_id, one.host ?? one.name ?? one.client_id] as const),
  ]);
}

interface CardProps {
  readonly item: RateLimit;
  readonly subjects: Subjects;
  readonly onEnd: () => void;
}

function RateLimitCard({ item, subjects, onEnd }: CardProps) {
  const { t } = useLanguage();
  const { subject_id: subject, tool, per_minute: minute, per_day: day } = item;
  const name = subject === null ? t('rates.everyone') : (subjects.get(subject) ?? subject);
  const limits = [
    ...(minute === null ? [] : [t('rates.minute', { count: minute })]),
    ...(day === null ? [] : [t('rates.day', { count: day })]),
  ];
  return (
    <Card
      name={item.rate_limit_id}
      about={
        <>
          <Text fw={600}>{name}</Text>
          <Text size="sm">
            {tool === null ? t('rates.requests') : t('rates.runs', { tool })}: {limits.join(' · ')}
          </Text>
        </>
      }
      actions={<CardButton label={t('action.delete')} of={`${t('rates.title')}, ${name}`} isEnd onClick={onEnd} />}
    />
  );
}

interface NewProps {
  readonly projectId: string;
  readonly subjects: Subjects;
  readonly onCreated: () => Promise<void>;
  readonly onClose: () => void;
}

function NewRateLimit({ projectId, subjects, onCreated, onClose }: NewProps) {
  const { t } = useLanguage();
  const [subject, setSubject] = useState('');
  const [tool, setTool] = useState('');
  const [minute, setMinute] = useState('');
  const [day, setDay] = useState('');
  const numberOf = (text: string) => (text === '' ? null : Number(text));
  const create = async () => {
    const limited = { subject_id: subject === '' ? null : subject, tool: tool.trim() === '' ? null : tool.trim() };
    const body = { ...limited, per_minute: numberOf(minute), per_day: numberOf(day) };
    await filesApi.data('POST /v1/projects/{project_id}/rate_limits', { path: { project_id: projectId }, body });
    await onCreated();
  };
  const rates = [
    { label: t('rates.perMinute'), value: minute, onChange: setMinute },
    { label: t('rates.perDay'), value: day, onChange: setDay },
  ];
  return (
    <Dialog onClose={onClose} title={t('rates.new')}>
      <SubmitForm action={t('rates.new')} onSubmit={create} isReady={minute !== '' || day !== ''}>
        {(failure) => (
          <>
            <NativeSelect
              label={t('rates.who')}
              value={subject}
              onChange={(event) => setSubject(event.currentTarget.value)}
              data={[
                { value: '', label: t('rates.everyone') },
                ...[...subjects].map(([value, label]) => ({ value, label })),
              ]}
            />
            <TextInput
              label={t('rates.tool')}
              description={t('rates.toolHint')}
              value={tool}
              maxLength={129}
              onChange={(event) => setTool(event.currentTarget.value)}
              error={failure}
            />
            {rates.map(({ label, value, onChange }) => (
              <TextInput
                key={label}
                label={label}
                type="number"
                min={1}
                max={1_000_000_000}
                step={1}
                value={value}
                onChange={(event) => onChange(event.currentTarget.value)}
              />
            ))}
          </>
        )}
      </SubmitForm>
    </Dialog>
  );
}
