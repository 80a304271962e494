import { Badge, Group, Text } from '@mantine/core';
import type { Project, ProjectDeletion } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { useProjectChoice } from '../../app/project.tsx';
import { Card, CardList } from '../../components/card-list.tsx';
import { Failure } from '../../components/failure.tsx';
import { formatBytes, formatNumber, formatTime } from '../../components/format.ts';
import { Dialog } from '../../components/forms/dialog.tsx';
import { NameField } from '../../components/forms/name-field.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { ListCount } from '../../components/lists/list-count.tsx';
import { Section } from '../../components/section.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';

const deletionsKey = ['deletions'];

/** Deletes the project after its name was typed. */
export function DeleteProject({ project, onClose }: { project: Project; onClose: () => void }) {
  const { t } = useLanguage();
  const { projects, choose } = useProjectChoice();
  const { say } = useToasts();
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const erase = async () => {
    const { project_id } = project;
    await filesApi.data('DELETE /v1/projects/{project_id}', { path: { project_id } });
    onClose();
    say(t('settings.deletionBegun', { name: project.name }));
    const next = projects.find((other) => other.project_id !== project_id);
    if (next !== undefined) choose(next.project_id);
    await queries.invalidateQueries({ queryKey: ['projects'] });
    await queries.invalidateQueries({ queryKey: deletionsKey });
  };
  return (
    <Dialog onClose={onClose} title={t('settings.deleteTitle', { name: project.name })}>
      <Text size="sm" mb="md">
        {t('settings.deleteAbout')}
      </Text>
      <SubmitForm action={t('settings.deleteProject')} onSubmit={erase} isReady={typed.trim() === project.name.trim()}>
        {(failure) => (
          <NameField label={t('settings.deleteName')} value={typed} onChange={setTyped} failure={failure} />
        )}
      </SubmitForm>
    </Dialog>
  );
}

/** The reports of deleted projects; nothing while there are none. */
export function DeletionList() {
  const { t } = useLanguage();
  const list = useInfiniteList({
    queryKey: deletionsKey,
    load: (query, signal) => filesApi.json('GET /v1/project_deletions', { query, signal }),
    idOf: ({ project_id }) => project_id,
    isMoving: ({ state }) => state === 'running',
  });
  if (list.error === null && list.items.length === 0) return null;
  return (
    <Section id="deletions" title={t('settings.deletions')}>
      {list.error === null ? null : <Failure error={list.error} onRetry={() => void list.refetch()} />}
      <ListCount list={list} isAnnounced={false} />
      <CardList>
        {list.items.map((item) => (
          <DeletionRow key={item.project_id} item={item} />
        ))}
      </CardList>
    </Section>
  );
}

function DeletionRow({ item }: { item: ProjectDeletion }) {
  const { t, code } = useLanguage();
  const { bytes, ...counts } = item.deleted;
  const deleted = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, formatNumber(count, code)]));
  return (
    <Card
      name={item.name}
      about={
        <>
          <Group gap="xs">
            <Text fw={600}>{item.name}</Text>
            {item.state === 'running' ? <Badge size="sm">{t('settings.deletionRuns')}</Badge> : null}
          </Group>
          <Text size="xs" c="dimmed" mt={4}>
            {t('settings.deletionReport', { ...deleted, bytes: formatBytes(bytes) })}
          </Text>
          <Text size="xs" c="dimmed">
            {formatTime(item.ended_timestamp ?? item.begun_timestamp, code)}
          </Text>
        </>
      }
      actions={null}
    />
  );
}
