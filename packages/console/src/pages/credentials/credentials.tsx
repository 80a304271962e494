import { Button } from '@mantine/core';
import type { Bundle, CredentialProfile } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { pluginsApi } from '../../api/addresses.ts';
import { useBundles } from '../../api/catalogue.ts';
import { profilesKey } from '../../api/credential-profiles.ts';
import { useEndlessList } from '../../api/endless-list.ts';
import { useLanguage } from '../../language/language.tsx';
import { CardList } from '../../pieces/card-list.tsx';
import { Confirm } from '../../pieces/confirm.tsx';
import { Empty } from '../../pieces/empty.tsx';
import { Failure } from '../../pieces/failure.tsx';
import { Icon } from '../../pieces/icons.tsx';
import { Loading } from '../../pieces/loading.tsx';
import { PageHead } from '../../pieces/page-head.tsx';
import { useToasts } from '../../pieces/toasts.tsx';
import { NewProfile } from './new-profile.tsx';
import { ProfileRow } from './profile-row.tsx';
import { ReplaceCredentials } from './replace-credentials.tsx';

/** The credential profiles of the project: made, replaced, deleted; never shown. ADR 0029. */
export function Credentials() {
  const { t } = useLanguage();
  const [isMaking, setMaking] = useState(false);
  const bundles = useBundles();
  const list = useEndlessList({
    queryKey: [...profilesKey, 'list'],
    load: (query, signal) => pluginsApi.json('GET /v1/credential_profiles', { query, signal }),
    idOf: (profile) => profile.credential_profile_id,
  });
  const error = list.error ?? bundles.error;
  const retry = () => void Promise.all([list.refetch(), bundles.refetch()]);
  return (
    <>
      <PageHead
        title={t('profiles.title')}
        about={t('profiles.about')}
        actions={
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setMaking(true)}>
            {t('profiles.new')}
          </Button>
        }
      />
      {error === null ? null : <Failure error={error} onRetry={retry} />}
      {list.isPending ? <Loading rows={3} /> : null}
      {list.isSuccess && list.items.length === 0 ? (
        <Empty icon="key" title={t('profiles.none')}>
          {t('profiles.noneAbout')}
        </Empty>
      ) : null}
      <ProfileList profiles={list.items} bundles={bundles.data ?? []} />
      {list.hasNextPage ? (
        <Button variant="default" mt="sm" onClick={list.loadMore}>
          …
        </Button>
      ) : null}
      {isMaking ? <NewProfile bundles={bundles.data ?? []} onClose={() => setMaking(false)} /> : null}
    </>
  );
}

type Doing = { readonly what: 'replace' | 'delete'; readonly profile: CredentialProfile } | null;

function ProfileList({ profiles, bundles }: { profiles: readonly CredentialProfile[]; bundles: readonly Bundle[] }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const { say } = useToasts();
  const [doing, setDoing] = useState<Doing>(null);
  const close = () => setDoing(null);
  const bundleOf = ({ bundle_id: id }: CredentialProfile) => bundles.find(({ bundle_id }) => bundle_id === id);
  const remove = async ({ name }: CredentialProfile) => {
    await pluginsApi.json('DELETE /v1/credential_profiles/{name}', { path: { name } });
    await queries.invalidateQueries({ queryKey: profilesKey });
    say(t('profiles.deleted', { name }));
  };
  const bundle = doing === null ? undefined : bundleOf(doing.profile);
  return (
    <section aria-label={t('profiles.list')}>
      <CardList>
        {profiles.map((profile) => (
          <ProfileRow
            key={profile.credential_profile_id}
            profile={profile}
            bundle={bundleOf(profile)}
            onDo={(what) => setDoing({ what, profile })}
          />
        ))}
      </CardList>
      {doing?.what === 'replace' && bundle !== undefined ? (
        <ReplaceCredentials profile={doing.profile} bundle={bundle} onClose={close} />
      ) : null}
      {doing?.what === 'delete' ? (
        <Confirm
          title={t('profiles.deleteTitle', { name: doing.profile.name })}
          action={t('action.delete')}
          onConfirm={() => remove(doing.profile)}
          onClose={close}
        >
          {t('profiles.deleteAbout')}
        </Confirm>
      ) : null}
    </section>
  );
}
