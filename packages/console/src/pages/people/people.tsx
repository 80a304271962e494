import { Stack } from '@mantine/core';
import { useMay, useProjectChoice } from '../../app/project.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { useLanguage } from '../../language/language.tsx';
import { AccountList } from './account-list.tsx';
import { MemberList } from './member-list.tsx';

/** The members of the project and, for an administrator of the service, all accounts. */
export function People() {
  const { t } = useLanguage();
  const { projectId } = useProjectChoice();
  return (
    <>
      <PageHead title={t('people.title')} about={t('people.about')} />
      <Stack gap={40}>
        <MemberList projectId={projectId} />
        {useMay('administer') ? <AccountList /> : null}
      </Stack>
    </>
  );
}
