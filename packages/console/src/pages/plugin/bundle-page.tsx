import { Badge, Text, Title } from '@mantine/core';
import { Link, useParams } from '@tanstack/react-router';
import { useBundles, usePlugins } from '../../api/catalogue.ts';
import { useIsKeyMissing } from '../../api/credential-profiles.ts';
import { NotFound } from '../../app/not-found.tsx';
import { Card, CardList } from '../../components/card-list.tsx';
import { Failure } from '../../components/failure.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ParentLink } from '../../components/parent-link.tsx';
import { KeyGuide } from '../../components/plugins/credential-guide.tsx';
import { effectsColors } from '../../components/tones.ts';
import { useLanguage } from '../../language/language.tsx';
import { takesCredentials } from '../credentials/bundle-choice.tsx';
import { Connections } from '../credentials/connections.tsx';
import { BundleFacts } from './bundle-facts.tsx';

/** One bundle: its plugins, and the accounts that end users have connected to it. */
export function BundlePage() {
  const { t } = useLanguage();
  const { bundleId } = useParams({ strict: false }) as { bundleId: string }; // of the route
  const bundles = useBundles(true);
  const plugins = usePlugins(bundleId);
  const isKeyMissing = useIsKeyMissing();
  const error = bundles.error ?? plugins.error;
  if (error !== null) return <Failure error={error} />;
  if (bundles.data === undefined || plugins.data === undefined) return <Loading />;
  const bundle = bundles.data.find(({ bundle_id }) => bundle_id === bundleId);
  if (bundle === undefined) return <NotFound />;
  return (
    <>
      <PageHead
        parent={<ParentLink to="/catalogue">{t('catalogue.title')}</ParentLink>}
        title={bundle.name}
        about={bundle.description}
      />
      <BundleFacts bundle={bundle} />
      <Title order={2} size="h4" mb="xs">
        {t('catalogue.plugins', { count: plugins.data.length })}
      </Title>
      <CardList>
        {plugins.data.map(({ plugin_id: pluginId, name, description, effects }) => (
          <Card
            key={pluginId}
            name={pluginId}
            about={
              <>
                <Link to="/catalogue/$bundleId/$pluginId" params={{ bundleId, pluginId }}>
                  {name}
                </Link>
                <Text size="xs" c="dimmed">
                  {description}
                </Text>
              </>
            }
            actions={
              <Badge size="sm" color={effectsColors[effects]}>
                {t(`effects.${effects}`)}
              </Badge>
            }
          />
        ))}
      </CardList>
      {takesCredentials(bundle) ? (
        isKeyMissing ? (
          <KeyGuide />
        ) : (
          <Connections bundles={[bundle]} bundleId={bundleId} />
        )
      ) : null}
    </>
  );
}
