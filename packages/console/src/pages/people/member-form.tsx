import { NativeSelect, Text, TextInput } from '@mantine/core';
import { type Member, type Role, roles } from '@quartermaster/contract';
import { useEffect, useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useAccounts, useRefreshPeople } from '../../api/people.ts';
import { useMay } from '../../app/project.tsx';
import { Dialog } from '../../components/forms/dialog.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { nameOf } from './person.tsx';

export interface MemberFormProps {
  readonly projectId: string;
  /** The member whose role changes; none to add one. */
  readonly member?: Member;
  readonly members: readonly Member[];
  readonly onClose: () => void;
}

/** Gives an account a role in the project. */
export function MemberForm({ projectId, member, members, onClose }: MemberFormProps) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const refresh = useRefreshPeople();
  const [id, setId] = useState(member?.account_id ?? '');
  const [role, setRole] = useState<Role>(member?.role ?? 'member');
  const save = async () => {
    const path = { project_id: projectId, account_id: id.trim() };
    await filesApi.json('PUT /v1/projects/{project_id}/members/{account_id}', { path, body: { role } });
    onClose();
    say(t('people.saved'));
    await refresh();
  };
  const title = member === undefined ? t('people.add') : `${t('people.change')}: ${nameOf(member)}`;
  return (
    <Dialog title={title} onClose={onClose}>
      <SubmitForm action={t('people.save')} onSubmit={save} isReady={id.trim() !== ''}>
        {(failure) => (
          <>
            {member === undefined ? <AccountField value={id} onChange={setId} members={members} /> : null}
            <NativeSelect
              label={t('people.roleLabel')}
              description={t(`people.about.${role}`)}
              value={role}
              onChange={({ currentTarget: { value } }) => setRole(value as Role)} // one of the options
              data={roles.map((value) => ({ value, label: t(`people.role.${value}`) }))}
              error={failure}
            />
            <Text size="sm">{t('people.keeps')}</Text>
          </>
        )}
      </SubmitForm>
    </Dialog>
  );
}

interface AccountFieldProps extends Pick<MemberFormProps, 'members'> {
  readonly value: string;
  readonly onChange: (id: string) => void;
}

/** Only administrators of the service can list accounts. Others enter the id that the person sees. */
function AccountField({ value, onChange, members }: AccountFieldProps) {
  const { t } = useLanguage();
  const isListed = useMay('administer');
  const { items, isFetching, loadMore } = useAccounts(isListed);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `loadMore` is another function at each rendering.
  useEffect(() => {
    if (!isFetching) loadMore();
  }, [isFetching]);
  if (!isListed) {
    return (
      <TextInput
        label={t('people.accountId')}
        description={t('people.accountIdHint')}
        value={value}
        maxLength={256}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        data-autofocus
      />
    );
  }
  const known = new Set(members.map(({ account_id }) => account_id));
  const others = items.filter(({ account_id }) => !known.has(account_id));
  return (
    <NativeSelect
      label={t('people.account')}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      data={[
        { value: '', label: '–' },
        ...others.map((account) => ({
          value: account.account_id,
          label: [nameOf(account), account.email].filter(Boolean).join(' · '),
        })),
      ]}
      data-autofocus
    />
  );
}
