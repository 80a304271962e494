import { Button, Group } from '@mantine/core';
import type { Member } from '@quartermaster/contract';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useMembers, useRefreshPeople } from '../../api/people.ts';
import { Card, CardButton } from '../../components/card-list.tsx';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Icon } from '../../components/icons.tsx';
import { ListCount } from '../../components/lists/list-count.tsx';
import { LoadedCards } from '../../components/lists/loaded-cards.tsx';
import { Section } from '../../components/section.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { MemberForm } from './member-form.tsx';
import { nameOf, Person } from './person.tsx';

type Step = { readonly what: 'add' } | { readonly what: 'change' | 'remove'; readonly member: Member };

/** The members of the project with their roles. */
export function MemberList({ projectId }: { projectId: string }) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const refresh = useRefreshPeople();
  const list = useMembers(projectId);
  const [step, setStep] = useState<Step | null>(null);
  const close = () => setStep(null);
  const remove = async ({ account_id, ...member }: Member) => {
    const path = { project_id: projectId, account_id };
    await filesApi.json('DELETE /v1/projects/{project_id}/members/{account_id}', { path });
    say(t('people.removed', { name: nameOf({ ...member, account_id }) }));
    await refresh();
  };
  return (
    <Section
      id="members"
      title={t('people.members')}
      about={t('people.membersAbout')}
      actions={
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setStep({ what: 'add' })}>
          {t('people.add')}
        </Button>
      }
    >
      <ListCount list={list} isAnnounced={false} />
      <LoadedCards list={list}>
        {(member) => <MemberCard member={member} onStep={(what) => setStep({ what, member })} />}
      </LoadedCards>
      {step?.what === 'add' ? <MemberForm projectId={projectId} members={list.items} onClose={close} /> : null}
      {step?.what === 'change' ? (
        <MemberForm projectId={projectId} member={step.member} members={list.items} onClose={close} />
      ) : null}
      {step?.what === 'remove' ? (
        <Confirm
          title={t('people.removeTitle', { name: nameOf(step.member) })}
          action={t('people.remove')}
          onConfirm={() => remove(step.member)}
          onClose={close}
        >
          {t('people.removeAbout')}
        </Confirm>
      ) : null}
    </Section>
  );
}

function MemberCard({ member, onStep }: { member: Member; onStep: (what: 'change' | 'remove') => void }) {
  const { t } = useLanguage();
  const badges = [t(`people.role.${member.role}`), ...(member.source === 'claim' ? [t('people.claim')] : [])];
  return (
    <Card
      name={member.account_id}
      about={<Person person={member} badges={badges} />}
      actions={
        <Group gap="xs">
          {(['change', 'remove'] as const).map((what) => (
            <CardButton
              key={what}
              label={t(`people.${what}`)}
              of={nameOf(member)}
              isEnd={what === 'remove'}
              onClick={() => onStep(what)}
            />
          ))}
        </Group>
      }
    />
  );
}
