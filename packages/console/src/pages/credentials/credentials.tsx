import { Button } from '@mantine/core';
import type { Bundle, CredentialProfile } from '@quartermaster/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { pluginsApi } from '../../api/addresses.ts';
import { useBundles } from '../../api/catalogue.ts';
import { profilesKey, useIsKeyMissing } from '../../api/credential-profiles.ts';
import { useInfiniteList } from '../../api/infinite-list.ts';
import { CardList } from '../../components/card-list.tsx';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { Confirm } from '../../components/forms/confirm.tsx';
import { Icon } from '../../components/icons.tsx';
import { ListCount } from '../../components/lists/list-count.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { KeyGuide } from '../../components/plugins/credential-guide.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { Connections } from './connections.tsx';
import { NewProfile } from './new-profile.tsx';
import { ProfileRow } from './profile-row.tsx';
import { ReplaceCredentials } from './replace-credentials.tsx';

/** Creates, replaces and deletes credential profiles. Credentials are never shown. ADR 0029. */
export function Credentials() {
  const { t } = useLanguage();
  const [isCreating, setCreating] = useState(false);
  const bundles = useBundles();
  const list = useInfiniteList({
    queryKey: [...profilesKey, 'list'],
    load: (query, signal) => pluginsApi.json('GET /v1/credential_profiles', { query, signal }),
    idOf: (profile) => profile.credential_profile_id,
  });
  const isKeyMissing = useIsKeyMissing();
  const error = list.error ?? bundles.error;
  const retry = () => void Promise.all([list.refetch(), bundles.refetch()]);
  return (
    <>
      <PageHead
        title={t('profiles.title')}
        about={t('profiles.about')}
        actions={
          isKeyMissing ? null : (
            <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
              {t('profiles.new')}
            </Button>
          )
        }
      />
      {isKeyMissing ? <KeyGuide /> : null}
      {error === null ? null : <Failure error={error} onRetry={retry} />}
      {list.isPending ? <Loading rows={3} /> : null}
      {list.isSuccess && list.items.length === 0 && !isKeyMissing ? (
        <Empty icon="key" title={t('profiles.none')}>
          {t('profiles.noneAbout')}
        </Empty>
      ) : null}
      {list.items.length > 0 ? <ListCount list={list} isAnnounced={false} /> : null}
      <ProfileList profiles={list.items} bundles={bundles.data ?? []} />
      {list.hasNextPage ? (
        <Button variant="default" mt="sm" onClick={list.loadMore}>
          {t('action.more')}
        </Button>
      ) : null}
      {isKeyMissing ? null : <Connections bundles={bundles.data ?? []} />}
      {isCreating ? <NewProfile bundles={bundles.data ?? []} onClose={() => setCreating(false)} /> : null}
    </>
  );
}

type Action = { readonly what: 'replace' | 'delete'; readonly profile: CredentialProfile } | null;

function ProfileList({ profiles, bundles }: { profiles: readonly CredentialProfile[]; bundles: readonly Bundle[] }) {
  const { t } = useLanguage();
  const queries = useQueryClient();
  const { say } = useToasts();
  const [action, setAction] = useState<Action>(null);
  const close = () => setAction(null);
  const bundleOf = ({ bundle_id: id }: CredentialProfile) => bundles.find(({ bundle_id }) => bundle_id === id);
  const remove = async ({ name }: CredentialProfile) => {
    await pluginsApi.json('DELETE /v1/credential_profiles/{name}', { path: { name } });
    await queries.invalidateQueries({ queryKey: profilesKey });
    say(t('profiles.deleted', { name }));
  };
  const bundle = action === null ? undefined : bundleOf(action.profile);
  return (
    <section aria-label={t('profiles.list')}>
      <CardList>
        {profiles.map((profile) => (
          <ProfileRow
            key={profile.credential_profile_id}
            profile={profile}
            bundle={bundleOf(profile)}
            onDo={(what) => setAction({ what, profile })}
          />
        ))}
      </CardList>
      {action?.what === 'replace' && bundle !== undefined ? (
        <ReplaceCredentials profile={action.profile} bundle={bundle} onClose={close} />
      ) : null}
      {action?.what === 'delete' ? (
        <Confirm
          title={t('profiles.deleteTitle', { name: action.profile.name })}
          action={t('action.delete')}
          onConfirm={() => remove(action.profile)}
          onClose={close}
        >
          {t('profiles.deleteAbout')}
        </Confirm>
      ) : null}
    </section>
  );
}
