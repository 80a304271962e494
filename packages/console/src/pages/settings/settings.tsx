import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import type { Project } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ask } from '../../api/call.ts';
import { useProjectChoice } from '../../app/project.tsx';
import { useLanguage } from '../../language/language.tsx';
import { describeFailure } from '../../pieces/failure.tsx';
import { Icon } from '../../pieces/icons.tsx';
import { PageHead } from '../../pieces/page-head.tsx';
import { useToasts } from '../../pieces/toasts.tsx';
import { Account } from './account.tsx';
import { KeyList } from './key-list.tsx';

/** The project's keys, and the administrator's account. */
export function Settings() {
  const { t } = useLanguage();
  const { projects, projectId } = useProjectChoice();
  const [isMaking, setMaking] = useState(false);
  const project = projects.find(({ project_id }) => project_id === projectId);
  return (
    <>
      <PageHead
        title={t('settings.title')}
        about={`${project?.name ?? ''} · ${projectId}. ${t('settings.about')}`}
        actions={
          <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setMaking(true)}>
            {t('settings.newProject')}
          </Button>
        }
      />
      <Stack gap={40}>
        <KeyList projectId={projectId} />
        <Account />
      </Stack>
      {isMaking ? <NewProject onClose={() => setMaking(false)} /> : null}
    </>
  );
}

function NewProject({ onClose }: { onClose: () => void }) {
  const { t } = useLanguage();
  const { choose } = useProjectChoice();
  const { say } = useToasts();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [failure, setFailure] = useState<string | null>(null);
  const make = async (event: FormEvent) => {
    event.preventDefault();
    try {
      const made = await ask<Project>('POST', '/v1/projects', { body: { name } });
      await queries.invalidateQueries({ queryKey: ['projects'] });
      say(t('settings.projectMade', { name }));
      choose(made.project_id);
      onClose();
    } catch (error) {
      setFailure(describeFailure(error));
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('settings.newProject')}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      <form onSubmit={make}>
        <TextInput
          label={t('settings.projectName')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={127}
          required
          withAsterisk={false}
          data-autofocus
          error={failure}
        />
        <Group justify="flex-end" mt="lg">
          <Button type="submit">{t('action.create')}</Button>
        </Group>
      </form>
    </Modal>
  );
}
