import { Badge, Button, Checkbox, Group, NativeSelect, Text, TextInput, VisuallyHidden } from '@mantine/core';
import { type Bundle, type BundleCategory, bundleCategories, type Plugin } from '@quartermaster/contract';
import { Link } from '@tanstack/react-router';
import { useDeferredValue, useMemo, useState } from 'react';
import { useBundles, usePlugins } from '../../api/catalogue.ts';
import { useBundlesWithProfiles } from '../../api/credential-profiles.ts';
import { usePageText } from '../../app/page-state.ts';
import { useMay } from '../../app/project.tsx';
import { Empty } from '../../components/empty.tsx';
import { Failure } from '../../components/failure.tsx';
import { Icon } from '../../components/icons.tsx';
import { VirtualRows } from '../../components/lists/virtual-rows.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { BundleIcon } from '../../components/plugins/bundle-icon.tsx';
import { effectsColors, tones } from '../../components/tones.ts';
import { useLanguage } from '../../language/language.tsx';
import classes from './catalogue.module.css';
import { categoryWords } from './category-words.ts';
import { type CatalogueRow, findRows, indexOf, type Readiness } from './find-rows.ts';

/** All bundles with their plugins, filtered while the user types. */
export function Catalogue() {
  const { t } = useLanguage();
  const [showsRetired, setShowsRetired] = useState(false);
  const bundles = useBundles(showsRetired);
  const plugins = usePlugins();
  const [text, setText] = usePageText('q');
  const [category, setCategory] = useState<BundleCategory | null>(null);
  const words = useDeferredValue(text);
  const profiles = useBundlesWithProfiles();
  const isAdministrator = useMay('administer');
  const index = useMemo(
    () => indexOf(bundles.data ?? [], plugins.data ?? [], profiles),
    [bundles.data, plugins.data, profiles],
  );
  const rows = useMemo(() => findRows(index, words, category), [index, words, category]);
  const error = bundles.error ?? plugins.error;
  const isLoaded = bundles.isSuccess && plugins.isSuccess;
  const counts = { plugins: plugins.data?.length ?? '…', bundles: bundles.data?.length ?? '…' };
  return (
    <>
      <PageHead
        title={t('catalogue.title')}
        about={t('catalogue.about', counts)}
        actions={isAdministrator ? <AddIntegrations /> : undefined}
      />
      <TextInput
        aria-label={t('catalogue.search')}
        placeholder={t('catalogue.search')}
        leftSection={<Icon name="search" size={16} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        mb="xs"
      />
      <Group mb="md">
        <CategorySelect value={category} onChange={setCategory} bundles={bundles.data ?? []} />
        <Checkbox
          size="xs"
          label={t('catalogue.retired')}
          checked={showsRetired}
          onChange={(event) => setShowsRetired(event.currentTarget.checked)}
        />
      </Group>
      <VisuallyHidden role="status">
        {(words === '' && category === null) || !isLoaded
          ? ''
          : t('catalogue.found', { count: rows.filter(({ plugin }) => plugin !== null).length })}
      </VisuallyHidden>
      {error === null ? null : <Failure error={error} onRetry={() => void bundles.refetch()} />}
      {error === null && !isLoaded ? <Loading rows={6} /> : null}
      {isLoaded && rows.length === 0 ? (
        <Empty icon="catalogue" title={t(text === '' && category === null ? 'catalogue.empty' : 'catalogue.none')} />
      ) : null}
      {rows.length === 0 ? null : (
        <VirtualRows items={rows} idOf={(row) => row.id} label={t('catalogue.list')} rowHeight={64}>
          {(row) => <Row row={row} />}
        </VirtualRows>
      )}
    </>
  );
}

interface CategorySelectProps {
  readonly value: BundleCategory | null;
  readonly onChange: (category: BundleCategory | null) => void;
  readonly bundles: readonly Bundle[];
}

/** The categories that some bundle has. */
function CategorySelect({ value, onChange, bundles }: CategorySelectProps) {
  const { code } = useLanguage();
  const words = categoryWords[code];
  const present = bundleCategories.filter((one) => bundles.some(({ categories }) => categories.includes(one)));
  return (
    <NativeSelect
      size="xs"
      aria-label={words.label}
      data={[{ value: '', label: words.all }, ...present.map((one) => ({ value: one, label: words[one] }))]}
      value={value ?? ''}
      onChange={({ currentTarget }) => onChange(present.find((one) => one === currentTarget.value) ?? null)}
    />
  );
}

function AddIntegrations() {
  const { t } = useLanguage();
  return (
    <Button variant="default" component={Link} to="/catalogue/add" leftSection={<Icon name="plus" size={16} />}>
      {t('integrations.title')}
    </Button>
  );
}

function Row({ row }: { row: CatalogueRow }) {
  return row.plugin === null ? (
    <BundleRow bundle={row.bundle} readiness={row.readiness} />
  ) : (
    <PluginRow plugin={row.plugin} />
  );
}

const readinessColors = {
  ready: tones.good,
  needsCredentials: 'gray',
  unavailable: tones.bad,
  retired: 'gray',
} as const;

function BundleRow({ bundle, readiness }: { bundle: Bundle; readiness: Readiness }) {
  const { t, code } = useLanguage();
  const categories = bundle.categories.map((one) => categoryWords[code][one]);
  return (
    <div className={classes.bundle}>
      <BundleIcon bundle={bundle} size={34} />
      <div className={classes.words}>
        <Text fw={700} className={classes.cut}>
          <Link to="/catalogue/$bundleId" params={{ bundleId: bundle.bundle_id }}>
            {bundle.name}
          </Link>
        </Text>
        <Text size="xs" c="dimmed" className={classes.cut}>
          {bundle.retired === null
            ? bundle.description
            : `${bundle.retired.date}: ${bundle.retired.reason} ${bundle.retired.successor}`}
        </Text>
      </div>
      <div className={classes.badges}>
        <Badge size="sm" color={readinessColors[readiness]} variant="outline" c="var(--mantine-color-text)">
          {t(`readiness.${readiness}`)}
        </Badge>
        <Text size="xs" c="dimmed">
          {[...categories, t('catalogue.plugins', { count: bundle.num_plugins })].join(' · ')}
          {bundle.verified === null ? '' : ` · ${t('catalogue.verified', { date: bundle.verified.date })}`}
        </Text>
      </div>
    </div>
  );
}

function PluginRow({ plugin }: { plugin: Plugin }) {
  const { t } = useLanguage();
  const params = { bundleId: plugin.bundle_id, pluginId: plugin.plugin_id };
  return (
    <Link to="/catalogue/$bundleId/$pluginId" params={params} className={classes.plugin}>
      <span className={classes.words}>
        <span className={classes.name}>{plugin.name}</span>
        <Text size="xs" c="dimmed" component="span" className={classes.cut}>
          {plugin.description}
        </Text>
      </span>
      <Badge size="sm" color={effectsColors[plugin.effects]} className={classes.effects}>
        {t(`effects.${plugin.effects}`)}
      </Badge>
    </Link>
  );
}
