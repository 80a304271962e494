import { Group, Text } from '@mantine/core';
import { ApiError } from '@quartermaster/client/api';
import type { Account } from '@quartermaster/contract';
import { useState } from 'react';
import { filesApi } from '../../api/addresses.ts';
import { useAccounts, useRefreshPeople } from '../../api/people.ts';
import { Card, CardButton } from '../../components/card-list.tsx';
import { formatAge } from '../../components/format.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Dialog } from '../../components/forms/dialog.tsx';
import { NameField } from '../../components/forms/name-field.tsx';
import { SubmitForm } from '../../components/forms/submit-form.tsx';
import { ListCount } from '../../components/lists/list-count.tsx';
import { LoadedCards } from '../../components/lists/loaded-cards.tsx';
import { Section } from '../../components/section.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { nameOf, Person } from './person.tsx';

const updates = {
  disable: { disabled: true },
  enable: { disabled: false },
  promote: { is_administrator: true },
  demote: { is_administrator: false },
} as const;

type Update = keyof typeof updates;

interface Step {
  readonly what: Update | 'erase';
  readonly account: Account;
}

/** The accounts of the service and what an administrator can do with them. */
export function AccountList() {
  const { t } = useLanguage();
  const list = useAccounts();
  const [step, setStep] = useState<Step | null>(null);
  const close = () => setStep(null);
  return (
    <Section id="accounts" title={t('people.accounts')} about={t('people.accountsAbout')}>
      <ListCount list={list} isAnnounced={false} />
      <LoadedCards list={list}>
        {(account) => <AccountCard account={account} onStep={(what) => setStep({ what, account })} />}
      </LoadedCards>
      {step === null ? null : <AccountStep {...step} onClose={close} />}
    </Section>
  );
}

function AccountCard({ account, onStep }: { account: Account; onStep: (what: Step['what']) => void }) {
  const { t, code } = useLanguage();
  const { issuer, last_sign_in_timestamp: last } = account;
  const badges = [
    ...(account.is_administrator ? [t('people.administrator')] : []),
    ...(account.disabled ? [t('people.disabled')] : []),
  ];
  const steps = [
    account.disabled ? 'enable' : 'disable',
    account.is_administrator ? 'demote' : 'promote',
    // The account with the password stays.
    ...(issuer === null ? [] : (['erase'] as const)),
  ] as const;
  return (
    <Card
      name={account.account_id}
      about={
        <Person person={account} badges={badges}>
          <Text size="xs" c="dimmed">
            {issuer === null ? t('people.password') : t('people.provider', { host: new URL(issuer).host })} ·{' '}
            {t('people.lastSignIn')}: {last === null ? t('settings.neverUsed') : formatAge(last, code)}
          </Text>
        </Person>
      }
      actions={
        <Group gap="xs">
          {steps.map((what) => (
            <CardButton
              key={what}
              label={t(`people.do.${what}`)}
              of={nameOf(account)}
              isEnd={what === 'erase'}
              onClick={() => onStep(what)}
            />
          ))}
        </Group>
      }
    />
  );
}

/** Asks before a change of an account. Its deletion requires the name. */
function AccountStep({ what, account, onClose }: Step & { onClose: () => void }) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const refresh = useRefreshPeople();
  const [typed, setTyped] = useState('');
  const name = nameOf(account);
  const path = { account_id: account.account_id };
  const act = async () => {
    try {
      if (what === 'erase') await filesApi.json('DELETE /v1/accounts/{account_id}', { path });
      else await filesApi.json('PATCH /v1/accounts/{account_id}', { path, body: updates[what] });
    } catch (error) {
      const isManaging = account.is_administrator && !account.disabled;
      const isLast = isManaging && error instanceof ApiError && error.code === 'PERMISSION_DENIED';
      throw isLast ? new Error(t('people.last'), { cause: error }) : error;
    }
    onClose();
    say(t(`people.done.${what}`, { name }));
    await refresh();
  };
  const title = `${t(`people.do.${what}`)}: ${name}`;
  if (what !== 'erase') {
    return (
      <Confirm title={title} action={t(`people.do.${what}`)} onConfirm={act} onClose={onClose}>
        {t(`people.ask.${what}`)}
      </Confirm>
    );
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <Text size="sm" mb="md">
        {t('people.ask.erase')}
      </Text>
      <SubmitForm action={t('people.do.erase')} onSubmit={act} isReady={typed.trim() === name}>
        {(failure) => (
          <NameField
            label={t('people.typeName', { name })}
            value={typed}
            onChange={setTyped}
            failure={failure}
            maxLength={2048}
          />
        )}
      </SubmitForm>
    </Dialog>
  );
}
