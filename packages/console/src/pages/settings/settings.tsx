import { Button, Group, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useMay, useProjectChoice } from '../../app/project.tsx';
import { Dialog } from '../../components/forms/dialog.tsx';
import { NameField } from '../../components/forms/name-field.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { Icon } from '../../components/icons.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { Account } from './account.tsx';
import { DeleteProject, DeletionList } from './delete-project.tsx';
import { EmbeddingModels } from './embedding-models.tsx';
import { KeyList } from './key-list.tsx';
import { RateLimits } from './rate-limits.tsx';

/** The project's keys, and the administrator's account. */
export function Settings() {
  const { t } = useLanguage();
  const { projects, projectId } = useProjectChoice();
  const [isCreating, setCreating] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const isManager = useMay('manage');
  const isAdministrator = useMay('administer');
  const project = projects.find(({ project_id }) => project_id === projectId);
  return (
    <>
      <PageHead
        title={t('settings.title')}
        about={`${project?.name ?? ''} · ${projectId} · ${t('settings.about')}`}
        actions={
          isAdministrator ? (
            <Group gap="xs">
              {/* A console without a project has no pages. */}
              {projects.length > 1 ? (
                <Button variant="light" color="red" onClick={() => setDeleting(true)}>
                  {t('settings.deleteProject')}
                </Button>
              ) : null}
              <Button variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
                {t('settings.newProject')}
              </Button>
            </Group>
          ) : undefined
        }
      />
      <Stack gap={40}>
        {isManager ? (
          <>
            <KeyList projectId={projectId} />
            <RateLimits projectId={projectId} />
            <DeletionList />
          </>
        ) : null}
        {isAdministrator ? <EmbeddingModels /> : null}
        <Account />
      </Stack>
      {isDeleting && project !== undefined ? (
        <DeleteProject project={project} onClose={() => setDeleting(false)} />
      ) : null}
      {isCreating ? <NewProject onClose={() => setCreating(false)} /> : null}
    </>
  );
}

function NewProject({ onClose }: { onClose: () => void }) {
  const { t } = useLanguage();
  const { choose } = useProjectChoice();
  const { say } = useToasts();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const create = async () => {
    const created = await filesApi.data('POST /v1/projects', { body: { name } });
    await queries.invalidateQueries({ queryKey: ['projects'] });
    say(t('settings.projectCreated', { name }));
    choose(created.project_id);
    onClose();
  };
  return (
    <Dialog onClose={onClose} title={t('settings.newProject')}>
      <SubmitForm action={t('action.create')} onSubmit={create}>
        {(failure) => <NameField label={t('settings.projectName')} value={name} onChange={setName} failure={failure} />}
      </SubmitForm>
    </Dialog>
  );
}
