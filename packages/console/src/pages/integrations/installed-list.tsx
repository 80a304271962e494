import { Group, Text } from '@mantine/core';
import type { BundlePlan, InstalledBundle } from '@quartermaster/contract';
import { useState } from 'react';
import { planBundle, removeBundle, useInstalledBundles, useRefreshBundles } from '../../api/integrations.ts';
import { Card, CardButton } from '../../components/card-list.tsx';
import { formatBytes, formatTime } from '../../components/format.ts';
import { Confirm } from '../../components/forms/confirm.tsx';
import { LoadedCards } from '../../components/lists/loaded-cards.tsx';
import { Section } from '../../components/section.tsx';
import { useToasts } from '../../components/toasts.tsx';
import { useLanguage } from '../../language/language.tsx';
import { useTexts } from './use-texts.ts';

interface InstalledListProps {
  readonly onPlan: (plan: BundlePlan) => void;
  /** An administrator updates a bundle whose source must be given again. */
  readonly onSource: (bundle: InstalledBundle) => void;
}

/** The bundles that were installed by a plan, to update and to remove. */
export function InstalledList({ onPlan, onSource }: InstalledListProps) {
  const { t } = useLanguage();
  const list = useInstalledBundles(true);
  const [removed, setRemoved] = useState<InstalledBundle | null>(null);
  return (
    <Section id="installed" title={t('integrations.installed')}>
      <LoadedCards list={list} empty={<Text size="sm">{t('integrations.none')}</Text>}>
        {(bundle) => (
          <InstalledCard bundle={bundle} onPlan={onPlan} onSource={onSource} onRemove={() => setRemoved(bundle)} />
        )}
      </LoadedCards>
      {removed === null ? null : <RemoveBundle bundle={removed} onClose={() => setRemoved(null)} />}
    </Section>
  );
}

interface CardProps extends InstalledListProps {
  readonly bundle: InstalledBundle;
  readonly onRemove: () => void;
}

function InstalledCard({ bundle, onPlan, onSource, onRemove }: CardProps) {
  const { t, code, licenceOf } = useTexts();
  const { showError } = useToasts();
  const [busy, setBusy] = useState(false);
  const { bundle_id: id, package: name, version, bytes, actions, hosts } = bundle;
  const update = async () => {
    const from = bundle.kind === 'piece' ? ({ kind: 'piece', package: name } as const) : bundle.source;
    if (from === null || 'bearer' in from || 'headers' in from) return onSource(bundle);
    setBusy(true);
    try {
      onPlan(await planBundle({ source: from, bundle_id: id }));
    } catch (error) {
      showError(error);
    }
    setBusy(false);
  };
  return (
    <Card
      name={id}
      about={
        <>
          <Text fw={600}>{id}</Text>
          <Text size="sm">
            <code>{name}</code> {version} · {t('catalogue.plugins', { count: actions.length })} · {formatBytes(bytes)} ·{' '}
            {t('integrations.licence')}: <bdi>{licenceOf(bundle)}</bdi>
          </Text>
          <Text size="xs" c="dimmed">
            {t('plugin.hosts')}: {hosts.join(', ') || t('plugin.noHosts')} ·{' '}
            {formatTime(bundle.installed_timestamp, code)}
          </Text>
        </>
      }
      actions={
        <Group gap="xs">
          <CardButton label={t('integrations.update')} of={id} loading={busy} onClick={() => void update()} />
          <CardButton label={t('try.removeItem')} of={id} isEnd onClick={onRemove} />
        </Group>
      }
    />
  );
}

function RemoveBundle({ bundle, onClose }: { bundle: InstalledBundle; onClose: () => void }) {
  const { t } = useLanguage();
  const { say } = useToasts();
  const refresh = useRefreshBundles();
  const { bundle_id: name } = bundle;
  const remove = async () => {
    await removeBundle(name);
    say(t('integrations.removed', { name }));
    await refresh(name, null);
  };
  return (
    <Confirm
      title={`${t('try.removeItem')}: ${name}`}
      action={t('try.removeItem')}
      onConfirm={remove}
      onClose={onClose}
    >
      {t('integrations.removeAbout')}
    </Confirm>
  );
}
