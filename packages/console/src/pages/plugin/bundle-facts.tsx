import { Alert, Text } from '@mantine/core';
import type { Bundle } from '@quartermaster/contract';
import type { ReactNode } from 'react';
import { BundleIcon } from '../../components/plugins/bundle-icon.tsx';
import { useLanguage } from '../../language/language.tsx';
import classes from './plugin.module.css';

export interface BundleFactsProps {
  readonly bundle: Bundle;
  /** Another fact, after those of the bundle. */
  readonly more?: string;
  readonly children?: ReactNode;
}

/** Who provides a bundle, where it sends requests, and why it cannot run. */
export function BundleFacts({ bundle, more, children }: BundleFactsProps) {
  const { t } = useLanguage();
  const hosts =
    bundle.hosts.join(', ') || t(bundle.hosts_by === 'operator' ? 'plugin.operatorHosts' : 'plugin.noHosts');
  const facts = [
    `${t('plugin.provider')}: ${bundle.provider}`,
    `${t('plugin.version')} ${bundle.version}`,
    `${t('plugin.hosts')}: ${hosts}`,
    t(`isolation.${bundle.isolation}.about`),
    ...(more === undefined ? [] : [more]),
  ];
  return (
    <>
      <div className={classes.facts}>
        <BundleIcon bundle={bundle} size={40} />
        <div>
          {children}
          <Text size="xs" c="dimmed">
            {facts.join(' · ')}
          </Text>
          <Verified bundle={bundle} />
          {bundle.piece === undefined ? null : <FromPackage piece={bundle.piece} />}
        </div>
      </div>
      <Unavailable bundle={bundle} />
    </>
  );
}

function Unavailable({ bundle: { unavailable } }: { bundle: Bundle }) {
  const { t } = useLanguage();
  if (unavailable === null) return null;
  return (
    <Alert variant="light" color="orange" title={t('readiness.unavailable')} mb="lg">
      {unavailable}
    </Alert>
  );
}

function Verified({ bundle: { hosts, verified } }: { bundle: Bundle }) {
  const { t } = useLanguage();
  if (hosts.length === 0) return null;
  return (
    <Text size="xs" c="dimmed">
      {verified === null ? t('plugin.unverified') : t('plugin.verified', verified)}
    </Text>
  );
}

function FromPackage({ piece }: { piece: NonNullable<Bundle['piece']> }) {
  const { t } = useLanguage();
  return (
    <Text size="xs" c="dimmed">
      {t('integrations.package')}: {piece.package} {piece.version} · {t('integrations.places')}:{' '}
      {piece.credential_places.join(', ') || t('plugin.noHosts')}
    </Text>
  );
}
