import { Group, Text } from '@mantine/core';
import { type Bundle, type CredentialProfile, profileMember } from '@quartermaster/contract';
import { Card, CardButton } from '../../components/card-list.tsx';
import { formatTime } from '../../components/format.ts';
import { CheckCredentials } from '../../components/plugins/check-credentials.tsx';
import { useLanguage } from '../../language/language.tsx';

export interface ProfileRowProps {
  readonly profile: CredentialProfile;
  /** Undefined when the bundle is not installed. */
  readonly bundle: Bundle | undefined;
  readonly onDo: (what: 'replace' | 'delete') => void;
}

export function ProfileRow({ profile, bundle, onDo }: ProfileRowProps) {
  const { t, code } = useLanguage();
  const { name, bundle_id: bundleId } = profile;
  return (
    <Card
      name={name}
      about={
        <>
          <Text fw={600}>{name}</Text>
          <Text size="xs" c="dimmed" mt={4}>
            {bundle?.name ?? t('profiles.noBundle')} · <code>{bundleId}</code> ·{' '}
            {t('profiles.updated', { time: formatTime(profile.updated_timestamp, code) })}
          </Text>
        </>
      }
      actions={
        <Group gap="xs">
          {bundle === undefined ? null : (
            <>
              <CheckCredentials bundleId={bundleId} credentials={{ [profileMember]: name }} />
              <CardButton label={t('profiles.replace')} of={name} onClick={() => onDo('replace')} />
            </>
          )}
          <CardButton label={t('action.delete')} of={name} isEnd onClick={() => onDo('delete')} />
        </Group>
      }
    />
  );
}
