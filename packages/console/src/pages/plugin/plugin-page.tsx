import { Alert, Badge, Group, Tabs } from '@mantine/core';
import type { Bundle, Plugin } from '@quartermaster/contract';
import { Link, useParams } from '@tanstack/react-router';
import { useBundles, usePlugins } from '../../api/catalogue.ts';
import { useLatestRuns } from '../../api/runs.ts';
import { NotFound } from '../../app/not-found.tsx';
import { usePageChoice } from '../../app/page-state.ts';
import { Failure } from '../../components/failure.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { ParentLink } from '../../components/parent-link.tsx';
import { SchemaView } from '../../components/schema/schema-view.tsx';
import { effectsColors } from '../../components/tones.ts';
import { useLanguage } from '../../language/language.tsx';
import { BundleFacts } from './bundle-facts.tsx';
import { ForModels } from './for-models.tsx';
import { TryIt } from './try-it.tsx';

/** In the same file, which all pages name. */
export { BundlePage } from './bundle-page.tsx';

/** One plugin: try it, or read its schemas. */
export function PluginPage() {
  const { bundleId, pluginId } = useParams({ strict: false }) as { bundleId: string; pluginId: string }; // of the route
  const bundles = useBundles();
  const plugins = usePlugins(bundleId);
  const error = bundles.error ?? plugins.error;
  if (error !== null) return <Failure error={error} />;
  if (bundles.data === undefined || plugins.data === undefined) return <Loading />;
  const bundle = bundles.data.find(({ bundle_id }) => bundle_id === bundleId);
  const plugin = plugins.data.find(({ plugin_id }) => plugin_id === pluginId);
  if (bundle === undefined || plugin === undefined) return <NotFound />;
  return <PluginView key={`${bundleId}/${pluginId}`} bundle={bundle} plugin={plugin} />;
}

const tabs = ['try', 'input', 'output', 'models'] as const;

function PluginView({ bundle, plugin }: { bundle: Bundle; plugin: Plugin }) {
  const { t } = useLanguage();
  const [tab, openTab] = usePageChoice('tab', tabs, 'push');
  return (
    <>
      <PageHead
        parent={<ParentLink to="/catalogue">{t('catalogue.title')}</ParentLink>}
        title={plugin.name}
        about={plugin.description}
      />
      <BundleFacts bundle={bundle} more={t(plugin.idempotent ? 'plugin.idempotent' : 'plugin.notIdempotent')}>
        <Group gap="xs">
          <Link to="/catalogue/$bundleId" params={{ bundleId: bundle.bundle_id }}>
            {bundle.name}
          </Link>
          <code>
            {plugin.bundle_id}/{plugin.plugin_id}
          </code>
          <Badge size="sm" color={effectsColors[plugin.effects]}>
            {t(`effects.${plugin.effects}`)}
          </Badge>
        </Group>
      </BundleFacts>
      <DriftedRuns plugin={plugin} />
      <Tabs value={tab} onChange={openTab} keepMounted={false}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="try">{t('plugin.tab.try')}</Tabs.Tab>
          <Tabs.Tab value="input">{t('plugin.tab.input')}</Tabs.Tab>
          <Tabs.Tab value="output">{t('plugin.tab.output')}</Tabs.Tab>
          <Tabs.Tab value="models">{t('plugin.tab.models')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="try">
          <TryIt bundle={bundle} plugin={plugin} />
        </Tabs.Panel>
        <Tabs.Panel value="input">
          <SchemaView schema={plugin.input_schema} />
        </Tabs.Panel>
        <Tabs.Panel value="output">
          <SchemaView schema={plugin.output_schema} />
        </Tabs.Panel>
        <Tabs.Panel value="models">
          <ForModels plugin={plugin} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

/** Says how many of the latest runs had an output that differs from its schema; nothing when none had. */
function DriftedRuns({ plugin: { bundle_id, plugin_id } }: { plugin: Plugin }) {
  const { t } = useLanguage();
  const runs = useLatestRuns(bundle_id, plugin_id).data ?? [];
  const drifted = runs.filter(({ output_violations }) => output_violations > 0);
  const [latest] = drifted;
  if (latest === undefined) return null;
  return (
    <Alert
      variant="light"
      color="orange"
      title={t('plugin.drifted', { count: drifted.length, runs: runs.length })}
      mb="lg"
    >
      {t('plugin.driftedAbout')}{' '}
      <Link to="/runs/$runId" params={{ runId: latest.run_id }}>
        {t('plugin.driftedRun')}
      </Link>
    </Alert>
  );
}
