import { Button, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useProjectChoice } from '../../app/project.tsx';
import { useLanguage } from '../../language/language.tsx';
import { Dialog } from '../../pieces/dialog.tsx';
import { Icon } from '../../pieces/icons.tsx';
import { NameField } from '../../pieces/name-field.tsx';
import { PageHead } from '../../pieces/page-head.tsx';
import { SubmitForm } from '../../pieces/submit-form.tsx';
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
  const make = async () => {
    const made = await filesApi.data('POST /v1/projects', { body: { name } });
    await queries.invalidateQueries({ queryKey: ['projects'] });
    say(t('settings.projectMade', { name }));
    choose(made.project_id);
    onClose();
  };
  return (
    <Dialog onClose={onClose} title={t('settings.newProject')}>
      <SubmitForm action={t('action.create')} onSubmit={make}>
        {(failure) => <NameField label={t('settings.projectName')} value={name} onChange={setName} failure={failure} />}
      </SubmitForm>
    </Dialog>
  );
}
